"""The one door to the environment: settings from it, and the environment for child processes.

Knows no room that uses a setting. Nothing is kept between calls: each ``load_settings()`` reads anew.
"""

import os
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from platformdirs import user_cache_path
from pydantic import AfterValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from lineage_assets.errors import SettingError

PROJECT_MARK = "workspace.yaml"


def project_folder(start: Path | None = None) -> Path:
    """The nearest folder at or above ``start`` (the working folder) with a workspace.yaml, else ``start``."""
    here = Path.cwd() if start is None else start.absolute()
    return next((up for up in (here, *here.parents) if (up / PROJECT_MARK).is_file()), here)


def _absolute(path: Path) -> Path:
    return path.expanduser().absolute()


def _http_url(url: str) -> str:
    message = "it is no http:// or https:// address"
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError as error:  # a port that is no number
        raise ValueError(message) from error
    if not is_address:
        raise ValueError(message)
    return url.rstrip("/")


AbsolutePath = Annotated[Path, AfterValidator(_absolute)]
HttpUrl = Annotated[str, AfterValidator(_http_url)]


class Settings(BaseSettings):
    """What the environment decides; paths are absolute, an empty variable counts as unset."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="ignore",
        env_ignore_empty=True,
        populate_by_name=True,
        case_sensitive=True,
    )

    home: AbsolutePath = Field(
        default_factory=lambda: project_folder() / ".lineage_assets",
        validation_alias="LINEAGE_ASSETS_HOME",
    )
    """The state folder: warehouse, landing files, lineage server, driver."""
    dagster_home: AbsolutePath = Field(
        default_factory=lambda known: known["home"] / "dagster", validation_alias="DAGSTER_HOME"
    )
    cache: AbsolutePath = Field(
        default_factory=lambda: user_cache_path("lineage_assets", appauthor=False),
        validation_alias="LINEAGE_ASSETS_CACHE",
    )
    """What may be deleted at any time and is shared by all projects of the user: Spark jars."""
    jars: AbsolutePath | None = Field(default=None, validation_alias="LINEAGE_ASSETS_JARS")
    """A folder with Spark jars of the user's own, looked at before the cache."""
    ivy_settings: AbsolutePath | None = Field(default=None, validation_alias="LINEAGE_ASSETS_IVY_SETTINGS")
    java_home: AbsolutePath | None = Field(default=None, validation_alias="JAVA_HOME")
    openlineage_url: HttpUrl | None = Field(default=None, validation_alias="OPENLINEAGE_URL")
    openlineage_api_key: SecretStr | None = Field(default=None, validation_alias="OPENLINEAGE_API_KEY")
    openlineage_spec: AbsolutePath | None = Field(default=None, validation_alias="OPENLINEAGE_SPEC")
    """The published OpenLineage schemas; only tests ask for them."""
    launcher: Literal["warm", "submit"] = Field(default="warm", validation_alias="LINEAGE_ASSETS_LAUNCHER")
    driver_owner: int | None = Field(default=None, ge=1, validation_alias="LINEAGE_ASSETS_DRIVER_OWNER")
    """A process whose end ends the warm drivers started for it: a demo's, a test run's."""
    range_run_threshold: int = Field(default=60, ge=1, validation_alias="LINEAGE_ASSETS_RANGE_RUN_THRESHOLD")
    """Ranges of more partitions than this are one lineage run a contiguous range."""
    gate_wait_seconds: float = Field(default=600.0, ge=0, validation_alias="LINEAGE_ASSETS_GATE_WAIT_SECONDS")
    """How long a run waits for a live run that makes what it reads, before it counts as blocked."""
    first_partition: date = Field(default=date(2021, 5, 24), validation_alias="FOOD_DELIVERY_FIRST")
    last_partition: date = Field(default=date(2021, 6, 12), validation_alias="FOOD_DELIVERY_LAST")

    @property
    def lineage_key(self) -> str | None:
        """The API key in plain, for whoever sends it and nobody else."""
        return None if self.openlineage_api_key is None else self.openlineage_api_key.get_secret_value()

    @model_validator(mode="after")
    def _first_is_not_after_last(self) -> "Settings":
        if self.first_partition > self.last_partition:
            raise SettingError(
                "FOOD_DELIVERY_FIRST",
                self.first_partition.isoformat(),
                f"it is after FOOD_DELIVERY_LAST, {self.last_partition.isoformat()}",
            )
        return self


def load_settings() -> Settings:
    """The settings as the environment has them now; a bad value raises ``SettingError``."""
    try:
        return Settings()
    except ValidationError as error:
        raise _named(error) from error


def use_home(home: Path, *, owns_driver: bool = False) -> None:
    """Make ``home`` the state folder of this process and its children, its Dagster instance included.

    A process that owns the Spark drivers of its folder takes them with it when it ends, however it ends.
    """
    if owns_driver:
        os.environ["LINEAGE_ASSETS_DRIVER_OWNER"] = str(os.getpid())
    os.environ["LINEAGE_ASSETS_HOME"] = str(home)
    os.environ["DAGSTER_HOME"] = str(home / "dagster")


def child_environment(extra: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """The environment for a child process: ours, with ``extra`` set and its ``None`` entries taken out."""
    changes = {} if extra is None else extra
    merged: dict[str, str | None] = {**os.environ, **changes}
    return {name: value for name, value in merged.items() if value is not None}


def _named(error: ValidationError) -> SettingError:
    first = error.errors(include_url=False)[0]
    variable = str(first["loc"][0])
    reason = first["msg"].removeprefix("Value error, ")
    return SettingError(variable, str(first["input"]), reason[:1].lower() + reason[1:])
