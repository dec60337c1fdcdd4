"""The code version: what of the code can change a result, as one hash; and the bytes that are shipped.

Reads source files as text and parses them; runs none of them.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import json
import sysconfig
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from lineage_assets.assets.declaration import JobDeclaration, function_name
from lineage_assets.errors import BadDeclarationError

_SPARK_SETTINGS_THAT_COUNT = ("spark.sql.ansi.enabled", "spark.sql.session.timeZone", "spark.sql.caseSensitive")


def code_version(declaration: JobDeclaration, spark_conf: Mapping[str, str]) -> str:
    """32 hexadecimal digits over syntax trees, declaration, checks and those Spark settings that can change results.

    Comments, layout and docstrings do not count.
    """
    digest = hashlib.sha256()
    for module, path in sorted(_modules(declaration).items()):
        digest.update(f"{module}\n{_tree(path)}\n".encode())
    digest.update(json.dumps(_declared(declaration), sort_keys=True).encode())
    settings = {name: spark_conf[name] for name in _SPARK_SETTINGS_THAT_COUNT if name in spark_conf}
    digest.update(json.dumps(settings, sort_keys=True).encode())
    return digest.hexdigest()[:32]


def shipped_code(declaration: JobDeclaration) -> dict[str, str]:
    """Module to SHA-256 of its source bytes, for every module that the job's run depends on."""
    return {
        module: hashlib.sha256(path.read_bytes()).hexdigest() for module, path in sorted(_modules(declaration).items())
    }


def _modules(declaration: JobDeclaration) -> dict[str, Path]:
    """The job's module and every module of the same code location that it imports, near and far."""
    start = declaration.function.__module__
    found: dict[str, Path] = {}
    left = [start]
    while left:
        module = left.pop()
        path = _source(module)
        if module in found or _is_of_this_package(module) or path is None or not _is_ours(path, _source(start)):
            continue
        found[module] = path
        left += _imports(module, path)
    if start not in found:
        raise BadDeclarationError(
            "job function", function_name(declaration.function), "its module has no source file to ship"
        )
    return found


def _is_of_this_package(module: str) -> bool:
    """What declares and runs jobs makes no result of theirs, also where it is no installed package."""
    package, _, rest = module.partition(".")
    return package == "lineage_assets" and not rest.startswith("pipelines.")


def _source(module: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, AttributeError, ValueError):
        return None  # `from package import name`: the name is no module
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    return Path(spec.origin)


def _is_ours(path: Path, start: Path | None) -> bool:
    """Whether a module is of the author's code location: beside the job, or neither installed nor Python's own."""
    if start is not None and path.parent == start.parent:
        return True
    installed = (Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    in_packages = {"site-packages", "dist-packages"} & set(path.parts)
    return not in_packages and not any(path.is_relative_to(folder) for folder in installed)


def _imports(module: str, path: Path) -> Iterator[str]:
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(_parsed(path)):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=source, names=names, level=level):
                base = package.rsplit(".", level - 1)[0] if level else ""
                home = ".".join(part for part in (base, source) if part)
                yield home
                yield from (f"{home}.{alias.name}" for alias in names)


def _parsed(path: Path) -> ast.Module:
    return _parsed_text(path.read_text(encoding="utf-8"))


@lru_cache(maxsize=128)
def _parsed_text(text: str) -> ast.Module:
    """Every step of a run asks for the version of its code; a module is parsed once as long as it stays the same."""
    return ast.parse(text)


def _tree(path: Path) -> str:
    return _dumped(path.read_text(encoding="utf-8"))


@lru_cache(maxsize=128)
def _dumped(text: str) -> str:
    tree = ast.parse(text)
    for node in ast.walk(tree):
        match node:
            case ast.Module(body=body) | ast.FunctionDef(body=body) | ast.ClassDef(body=body):
                if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
                    del body[0]
    return ast.dump(tree)


def _declared(declaration: JobDeclaration) -> dict[str, object]:
    """What the declaration says that can change a result, descriptions and owners left out."""
    return {
        "function": function_name(declaration.function),
        "reads": {parameter: repr(read) for parameter, read in sorted(declaration.reads.items())},
        "makes": [
            [made.name, made.dataset, made.outbox, [[c.name, c.type] for c in made.columns], repr(made.checks)]
            for made in declaration.makes
        ],
    }
