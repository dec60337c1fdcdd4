"""The one door to the environment: settings from it, and the environment for child processes.

Knows no room that uses a setting. Nothing is kept between calls: each ``load_settings()`` reads anew.
"""

import os
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from platformdirs import user_cache_path
from pydantic import AfterValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from lineage_assets.errors import SettingError
from lineage_assets.redaction import MASK, Secrets, is_secret_name, redact_text, without_user

DEFAULT_ENDPOINT = "api/v1/lineage"
"""Where a receiver takes events, below its address, when nobody says otherwise."""
PROJECT_MARK = "workspace.yaml"
_NESTED = "OPENLINEAGE__"
_FOLDERS = frozenset({"PWD", "OLDPWD"})
"""Where a shell is: no password, whatever the name says."""


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


def _nested_variables() -> dict[str, SecretStr]:
    return {name: SecretStr(value) for name, value in os.environ.items() if name.startswith(_NESTED) and value}


AbsolutePath = Annotated[Path, AfterValidator(_absolute)]
HttpUrl = Annotated[str, AfterValidator(_http_url)]
PublicAddress = Annotated[str, AfterValidator(without_user)]
"""It is told to everybody, and with a token in it, it would be a key to the repository."""


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
    openlineage_endpoint: str | None = Field(default=None, validation_alias="OPENLINEAGE_ENDPOINT")
    openlineage_api_key: SecretStr | None = Field(default=None, validation_alias="OPENLINEAGE_API_KEY")
    openlineage_disabled: str | None = Field(default=None, validation_alias="OPENLINEAGE_DISABLED")
    """`true`, in any spelling, keeps all events here; OpenLineage has other values mean nothing."""
    openlineage_config: AbsolutePath | None = Field(default=None, validation_alias="OPENLINEAGE_CONFIG")
    """A configuration file of OpenLineage's; without it those at its usual places are looked for."""
    openlineage_nested: Mapping[str, SecretStr] = Field(default_factory=_nested_variables)
    """The variables OPENLINEAGE__*, each a key of such a file; any of them may hold a secret."""
    openlineage_spec: AbsolutePath | None = Field(default=None, validation_alias="OPENLINEAGE_SPEC")
    """The published OpenLineage schemas; only tests ask for them."""
    launcher: Literal["warm", "submit"] = Field(default="warm", validation_alias="LINEAGE_ASSETS_LAUNCHER")
    spark_events: Literal["collected", "direct"] = Field(
        default="collected", validation_alias="LINEAGE_ASSETS_SPARK_EVENTS"
    )
    """`direct`: what Spark's listener tells of a program also goes to OPENLINEAGE_URL, from where Spark runs."""
    driver_owner: int | None = Field(default=None, ge=1, validation_alias="LINEAGE_ASSETS_DRIVER_OWNER")
    """A process whose end ends the warm drivers started for it: a demo's, a test run's."""
    range_run_threshold: int = Field(default=60, ge=1, validation_alias="LINEAGE_ASSETS_RANGE_RUN_THRESHOLD")
    """Ranges of more partitions than this are one lineage run a contiguous range."""
    gate_wait_seconds: float = Field(default=600.0, ge=0, validation_alias="LINEAGE_ASSETS_GATE_WAIT_SECONDS")
    """How long a run waits for a live run that makes what it reads, before it counts as blocked."""
    repository: PublicAddress | None = Field(default=None, validation_alias="LINEAGE_ASSETS_REPOSITORY")
    """The address of the git repository of the jobs, for the lineage record, where no checkout is deployed."""
    commit: str | None = Field(default=None, validation_alias="LINEAGE_ASSETS_COMMIT")
    tell_source_code: bool = Field(default=True, validation_alias="LINEAGE_ASSETS_SOURCE_CODE")
    """Whether the text of a job's function goes into the lineage record."""
    hierarchy: Literal["none", "parent"] = Field(default="none", validation_alias="LINEAGE_ASSETS_HIERARCHY")
    """`parent`: each lineage run names its pipeline as parent and its backfill as root."""
    symlinks: bool = Field(default=False, validation_alias="LINEAGE_ASSETS_SYMLINKS")
    """Whether each dataset names its physical table as its second name."""
    first_partition: date = Field(default=date(2021, 5, 24), validation_alias="FOOD_DELIVERY_FIRST")
    last_partition: date = Field(default=date(2021, 6, 12), validation_alias="FOOD_DELIVERY_LAST")

    @property
    def is_lineage_off(self) -> bool:
        """Whether somebody wants no event sent to anybody."""
        return self.openlineage_disabled is not None and self.openlineage_disabled.strip().lower() == "true"

    @property
    def lineage_key(self) -> str | None:
        """The API key in plain, for whoever sends it and nobody else."""
        return None if self.openlineage_api_key is None else self.openlineage_api_key.get_secret_value()

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """What is shown of the settings: all but secrets, of which an address may hold one as well."""
        for name, value in super().__repr_args__():
            yield name, redact_text(value) if isinstance(value, str) else value

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
        raise _named(error) from None  # its text has the value in full, and that may be a secret


def secrets_of(settings: Settings) -> Secrets:
    """The secrets that this process was given, by value: the settings' own, and what the environment calls one.

    Read anew each time, as the settings are.
    """
    given = dict(os.environ) | {name: value.get_secret_value() for name, value in settings.openlineage_nested.items()}
    named = (value for name, value in given.items() if is_secret_name(name) and name not in _FOLDERS)
    inside = (urlsplit(value).password for value in given.values() if _has_user(value))
    return Secrets.of(value for value in (settings.lineage_key, *named, *inside) if value is not None)


def _has_user(value: str) -> bool:
    try:
        return "://" in value and urlsplit(value).password is not None
    except ValueError:
        return False


def openlineage_files() -> tuple[Path, ...]:
    """Where a configuration of OpenLineage's is looked for when none is named: here, in the project, in one's home."""
    folders = (Path.cwd(), project_folder(), Path.home() / ".openlineage")
    return tuple(dict.fromkeys(folder / "openlineage.yml" for folder in folders))


def use_home(home: Path, *, owns_driver: bool = False) -> None:
    """Make ``home`` the state folder of this process and its children, its Dagster instance included.

    A process that owns the Spark drivers of its folder takes them with it when it ends, however it ends.
    """
    if owns_driver:
        os.environ["LINEAGE_ASSETS_DRIVER_OWNER"] = str(os.getpid())
    os.environ["LINEAGE_ASSETS_HOME"] = str(home)
    os.environ["DAGSTER_HOME"] = str(home / "dagster")


def forget_receivers() -> None:
    """Leave this process and its children no receiver of lineage but the embedded server, or OPENLINEAGE_URL's."""
    for name in [name for name in os.environ if name.startswith(_NESTED)]:
        del os.environ[name]
    os.environ.pop("OPENLINEAGE_DISABLED", None)
    os.environ["OPENLINEAGE_CONFIG"] = os.devnull


def child_environment(extra: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """The environment for a child process: ours, with ``extra`` set and its ``None`` entries taken out."""
    changes = {} if extra is None else extra
    merged: dict[str, str | None] = {**os.environ, **changes}
    return {name: value for name, value in merged.items() if value is not None}


def _named(error: ValidationError) -> SettingError:
    first = error.errors(include_url=False)[0]
    variable = str(first["loc"][0])
    reason = first["msg"].removeprefix("Value error, ")
    value = MASK if is_secret_name(variable) else redact_text(str(first["input"]))
    return SettingError(variable, value, redact_text(reason[:1].lower() + reason[1:]))
