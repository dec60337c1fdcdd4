"""Resolves Maven coordinates with the Ivy inside Spark, as ``spark-submit --packages`` does.

So no repository is named here, and the user's own Ivy settings, Maven cache and Spark defaults
hold. Knows no particular jar; keeps nothing: what came lies in the folder that the caller gave.
"""

import re
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from lineage_assets.errors import LineageAssetsError
from lineage_assets.launch.java import find_java
from lineage_assets.settings import Settings, child_environment

ENTRY = ("org.apache.spark.deploy.SparkSubmit", "org.apache.ivy.Main")
"""What resolves, and what it then starts: a program that prints its version, so no session."""
NETWORK_TIMEOUTS = (
    "-Dsun.net.client.defaultConnectTimeout=20000",
    "-Dsun.net.client.defaultReadTimeout=120000",
)


class JarsUnreachableError(LineageAssetsError):
    """Jars that are not here could not be fetched."""

    def __init__(self, coordinates: tuple[str, ...], reason: str) -> None:
        self.coordinates = coordinates
        self.reason = reason
        super().__init__(
            f"These Spark jars are not here and could not be fetched: {', '.join(coordinates)} "
            f"({reason}). Connect to the network and run `lineage-assets jars fetch`; "
            "or name your own repository in an Ivy settings file and that file in "
            "LINEAGE_ASSETS_IVY_SETTINGS; or put the files into a folder and name it in "
            "LINEAGE_ASSETS_JARS."
        )


def spark_home() -> Path:
    """The folder of the installed PySpark, which is a whole Spark; found without importing it."""
    spec = find_spec("pyspark")
    folders = None if spec is None else spec.submodule_search_locations
    if not folders:
        message = "PySpark is not installed here. `pip install 'pyspark==3.5.*'` brings it."
        raise LineageAssetsError(message)
    return Path(folders[0])


def resolve(coordinates: Sequence[str], *, exclusions: Sequence[str], into: Path, settings: Settings) -> Path:
    """Fetch the coordinates below ``into``; gives the folder that then holds the files."""
    spark = spark_home()
    command = [
        str(find_java(settings).program),
        *NETWORK_TIMEOUTS,
        *("-cp", f"{spark / 'jars'}/*", ENTRY[0]),
        *("--conf", f"spark.jars.ivy={into}"),
        *_ivy_settings(settings),
        *("--packages", ",".join(coordinates)),
        *(("--exclude-packages", ",".join(exclusions)) if exclusions else ()),
        *("--class", ENTRY[1], "spark-internal", "-version"),
    ]
    done = subprocess.run(
        command,
        capture_output=True,
        check=False,
        text=True,
        # Without the address Spark asks for the machine's own, which fails where no network is.
        env=child_environment({"SPARK_HOME": str(spark), "SPARK_LOCAL_IP": "127.0.0.1"}),
    )
    if done.returncode != 0:
        raise JarsUnreachableError(tuple(coordinates), _reason(done.stderr + done.stdout))
    return into / "jars"


def _ivy_settings(settings: Settings) -> tuple[str, ...]:
    own = settings.ivy_settings
    if own is None:
        usual = Path.home() / ".ivy2" / "ivysettings.xml"
        own = usual if usual.is_file() else None
    return () if own is None else ("--conf", f"spark.jars.ivySettings={own}")


def _reason(output: str) -> str:
    """The first line of Spark's and Ivy's output that says what went wrong."""
    signs = ("Server access error", "Host ", "download failed", "Caused by", "Exception in thread")
    telling = (line.strip() for line in output.splitlines() if any(sign in line for sign in signs))
    return _without_password(next(telling, "Spark's Ivy gave no reason"))


def _without_password(line: str) -> str:
    return re.sub(r"//[^/@\s]*@", "//", line)
