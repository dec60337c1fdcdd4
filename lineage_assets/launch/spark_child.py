"""What a child process with Spark in it gets: Java, this Python, the way to our code, and nothing of another Spark."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lineage_assets.launch.jars import find_jars
from lineage_assets.launch.java import find_java
from lineage_assets.launch.spark_conf import with_jars
from lineage_assets.settings import Settings, child_environment

_OF_ANOTHER_SPARK = (
    "SPARK_HOME",
    "SPARK_CONF_DIR",
    "PYSPARK_SUBMIT_ARGS",
    "PYSPARK_GATEWAY_PORT",
    "PYSPARK_GATEWAY_SECRET",
    "PYSPARK_DRIVER_PYTHON_OPTS",
)

_OF_OUR_RECEIVER = (
    "OPENLINEAGE_DISABLED",
    "OPENLINEAGE_URL",
    "OPENLINEAGE_ENDPOINT",
    "OPENLINEAGE_API_KEY",
    "OPENLINEAGE_CONFIG",
)
"""With OPENLINEAGE__*: Spark's listener heeds these too, and would be silent or speak to others than us."""


@dataclass(frozen=True, slots=True)
class SparkChild:
    """Settings and environment of a child process, both complete."""

    conf: Mapping[str, str]
    environment: Mapping[str, str]


def spark_child(
    conf: Mapping[str, str], settings: Settings, *, modules: Iterable[str] = (), say: Callable[[str], None]
) -> SparkChild:
    """Find Java and the jars, fetching what is missing; raises what they raise."""
    environment = spark_environment(settings, modules)
    return SparkChild(with_jars(conf, find_jars(settings, say=say)), environment)


def spark_environment(settings: Settings, modules: Iterable[str] = ()) -> dict[str, str]:
    """Complete; with the way to these modules of ours as well."""
    return child_environment(
        {
            **dict.fromkeys((*_OF_ANOTHER_SPARK, *_OF_OUR_RECEIVER, *settings.openlineage_nested)),
            "JAVA_HOME": str(find_java(settings).path),
            "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_DRIVER_PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join(project_path(modules)),
            # Else Spark asks the network for this machine's name, and warns.
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
    )


def project_path(modules: Iterable[str] = ()) -> list[str]:
    """Where this process imports from, and has imported these modules from, beyond what any process of this Python has.

    The latter since Dagster has the folder of a project on its path only while it loads the definitions.
    """
    everybodys = {sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders = [Path(entry).absolute() for entry in sys.path]
    folders += filter(None, map(_folder_of, sorted(modules)))
    return [
        str(folder)
        for folder in dict.fromkeys(folders)
        if folder.is_dir() and str(folder) not in everybodys and folder.name != "lib-dynload"
    ]


def _folder_of(module: str) -> Path | None:
    """The folder below which a module lies that is loaded here; None where it comes from no file."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return None
    path = Path(file).absolute()
    depth = module.count(".") + (path.stem == "__init__")
    return path.parents[depth]
