"""What holds for the repository as a whole: what is in it, who may touch what, how much a file holds."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from lineage_assets.cli.main import COMMANDS

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "lineage_assets"
MODULES = sorted(PACKAGE.rglob("*.py"))
SHIPPED = sorted([*PACKAGE.glob("spark/**/*.py"), *PACKAGE.glob("pipelines/*/jobs.py")])
"""What runs on the cluster."""
VAGUE_NAMES = {"utils", "common", "helpers", "misc", "base", "manager", "handler", "data", "info"}


def at(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports, wherever in it."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module


def attributes(path: Path) -> set[str]:
    """Each `a.b` in a file, and each `b` that it imports from `a`."""
    nodes = list(ast.walk(tree(path)))
    dotted = (f"{ast.unparse(node.value)}.{node.attr}" for node in nodes if isinstance(node, ast.Attribute))
    taken = (f"{node.module}.{name.name}" for node in nodes if isinstance(node, ast.ImportFrom) for name in node.names)
    return {*dotted, *taken}


def with_attribute(*names: str) -> list[str]:
    return [at(path) for path in MODULES if attributes(path) & set(names)]


def with_import(package: str) -> list[str]:
    return [at(path) for path in MODULES if any(name.split(".")[0] == package for name in imported(path))]


@pytest.fixture(scope="module")
def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("this is no git clone, and what would be tracked cannot be told")
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def test_no_tracked_file_names_a_package_index_or_a_path_of_one_machine(tracked: list[Path]) -> None:
    told = re.compile(
        r"(?<![.\w/$}>])/(?:work|root|home/[a-z]+)/"
        r"|--(?:extra-)?index-url\b"
        r"|https?://[a-z0-9.:-]+/(?:simple|maven2)\b"
    )
    lines = (
        f"{at(path)}:{number}: {line.strip()}"
        for path in tracked
        if path != Path(__file__)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if told.search(line)
    )
    assert list(lines) == []


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-java.lock"])
def test_every_locked_package_is_pinned_and_hashed_and_no_index_is_named(lock: str) -> None:
    text = (ROOT / lock).read_text("utf-8")
    entries = [entry for entry in re.split(r"\n(?=[^\s#])", text) if not entry.startswith("#")]
    assert [entry for entry in entries if not re.match(r"[a-z0-9.-]+==\S+ .*?\\\n    --hash=sha256:", entry)] == []
    assert [entry for entry in entries if entry.startswith("-") or "://" in entry or " @ " in entry] == []


def test_every_bound_of_the_project_has_an_upper_end() -> None:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    project = text[text.index("[build-system]") : text.index("[project.scripts]")]
    bounds = re.findall(r'"([a-z][a-z0-9-]+(?:\[[a-z0-9,]+\])?[=<>][^";]+)[";]', project)
    assert len(bounds) > 20
    assert [bound for bound in bounds if "<" not in bound and "==" not in bound] == []


@pytest.mark.parametrize("path", MODULES, ids=at)
def test_a_file_fits_into_one_head(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines()
    functions = [node for node in ast.walk(tree(path)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    too_long = [node.name for node in functions if (node.end_lineno or 0) - node.lineno + 1 > 40]
    assert (len(lines) <= 250, too_long) == (True, [])


def test_no_file_has_a_name_that_says_nothing() -> None:
    assert [at(path) for path in MODULES if path.stem in VAGUE_NAMES] == []


def test_the_environment_is_read_in_one_file() -> None:
    assert with_attribute("os.environ", "os.getenv") == ["lineage_assets/settings.py"]


def test_the_time_of_day_is_read_in_one_file() -> None:
    clocks = ("datetime.now", "datetime.utcnow", "datetime.today", "date.today", "time.time")
    assert with_attribute(*clocks, *(f"datetime.{name}" for name in clocks)) == ["lineage_assets/clock.py"]


def test_a_spark_session_is_built_in_one_file() -> None:
    assert len(with_attribute("SparkSession.builder")) <= 1


def test_boto3_is_known_to_one_file_at_most() -> None:
    assert len(with_import("boto3")) <= 1


def test_openlineage_is_known_to_what_makes_events_and_what_has_its_transports_carry_them() -> None:
    room = "lineage_assets/lineage/"
    known = {name.removeprefix(room).removesuffix(".py").split("/")[0] for name in with_import("openlineage")}
    assert known == {"client_transport", "events", "facets"}


@pytest.mark.parametrize("path", SHIPPED, ids=at)
def test_what_ships_imports_spark_pipes_the_standard_library_and_itself(path: Path) -> None:
    """Said as a list of what is allowed; the import contract can only list what is not."""
    allowed = {"pyspark", "py4j", "dagster_pipes", *sys.stdlib_module_names}
    shipped = {module_name(other) for other in SHIPPED}
    strange = {
        name
        for name in imported(path)
        if name.split(".")[0] not in allowed and not any(module.startswith(name) for module in shipped)
    }
    assert strange == set()


@pytest.mark.parametrize("path", SHIPPED, ids=at)
def test_what_ships_is_python_39(path: Path) -> None:
    ast.parse(path.read_text("utf-8"), feature_version=(3, 9))


def run_blocking(blocked: list[str], program: str) -> None:
    """Run a program in a process where some packages cannot be imported."""
    block = f"import sys; sys.modules.update(dict.fromkeys({blocked!r}))"
    done = subprocess.run(
        [sys.executable, "-c", f"{block}\n{program}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_what_ships_and_the_core_import_without_dagster_boto3_and_openlineage() -> None:
    core = [PACKAGE / f"{name}.py" for name in ("__init__", "partitions", "datasets", "graph")]
    planner = ("ask", "explain", "found", "grid", "impact", "plan", "planner", "request")
    backfill = [PACKAGE / "backfill" / f"{name}.py" for name in planner]
    modules = [module_name(path) for path in chain(core, backfill, SHIPPED)]
    run_blocking(["dagster", "boto3", "openlineage"], f"import {', '.join(modules)}")


def test_help_loads_nothing_heavy() -> None:
    heavy = ["dagster", "pyspark", "pydantic", "rich", "httpx", "starlette", "openlineage"]
    run_blocking(heavy, 'from lineage_assets.cli.main import main; main(["--help"])')


def test_every_command_has_its_file() -> None:
    assert [name for name in COMMANDS if not (PACKAGE / "cli" / f"{name}.py").is_file()] == []
