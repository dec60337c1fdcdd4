"""From a declaration and the gate's verdicts to the program that Spark is asked to run. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from lineage_assets.assets.asked import Asked
from lineage_assets.assets.code_version import shipped_code
from lineage_assets.assets.declaration import External, JobDeclaration, Landing, Made, Read, function_name
from lineage_assets.assets.intake import Landed
from lineage_assets.assets.platform import Platform
from lineage_assets.datasets import Field
from lineage_assets.errors import BadDeclarationError
from lineage_assets.graph import AssetKey, name_of
from lineage_assets.ledger.gate import Go, reads_of
from lineage_assets.partitions import keys_of, ranges_text, set_of
from lineage_assets.spark.program import LandingInput, Lineage, Output, Program, TableInput


@dataclass(frozen=True, slots=True)
class Ready:
    """A partition that passed the gate and the intake."""

    go: Go
    landed: Mapping[str, Landed]
    """By parameter of the job."""


def program_of(
    declaration: JobDeclaration, asked: Asked, ready: Mapping[str, Ready], platform: Platform, lineage: Lineage
) -> Program:
    """One program for all partitions that are ready."""
    targets = tuple(sorted(ready))
    chosen = {node.key for node in asked.nodes}
    reads = {} if asked.is_adoption else declaration.reads
    code = shipped_code(declaration)
    return Program(
        function=function_name(declaration.function),
        code=code,
        token=_token(asked, ready, code),
        targets=targets,
        lineage=lineage,
        outputs=tuple(_output(made, platform) for made in declaration.makes if (made.name,) in chosen),
        tables=tuple(
            _table(parameter, read, ready, declaration, platform)
            for parameter, read in reads.items()
            if not isinstance(read, Landing)
        ),
        landings=tuple(
            _landing(parameter, read, ready, platform) for parameter, read in reads.items() if isinstance(read, Landing)
        ),
        existing=asked.is_adoption,
        is_whole=len(chosen) == len(declaration.makes),
    )


def _token(asked: Asked, ready: Mapping[str, Ready], code: Mapping[str, str]) -> str:
    """The unit: backfill or run, assets, range; and a digest of what it is made from.

    A second try of the same unit finds what the first published; one with other inputs or code publishes anew.
    """
    assets = "+".join(name_of(node.key) for node in asked.nodes)
    targets = sorted(ready)
    made_from = [(target, _versions(ready[target])) for target in targets]
    digest = hashlib.sha256(json.dumps([sorted(code.items()), made_from]).encode()).hexdigest()[:16]
    unit = asked.run_id if asked.backfill is None else asked.backfill
    return f"{unit}:{assets}:{ranges_text(set_of(targets)).replace(' ', '')}:{digest}"


def _versions(ready: Ready) -> list[tuple[str, str, str | None]]:
    """All that a partition is made from, as sorted triples."""
    read = [
        (name_of(asset), day, version) for asset, days in ready.go.versions.items() for day, version in days.items()
    ]
    return sorted([*read, *(("", parameter, landed.version) for parameter, landed in ready.landed.items())])


def _output(made: Made, platform: Platform) -> Output:
    folder = platform.outbox_of(made)
    return Output(
        asset=made.name,
        columns=_columns(made.columns),
        table=platform.table_of((made.name,)),
        outbox=None if folder is None else str(folder),
        min_rows=made.checks.min_rows,
        required=made.checks.required,
        key=made.checks.key,
    )


def _table(
    parameter: str, read: Read | External, ready: Mapping[str, Ready], declaration: JobDeclaration, platform: Platform
) -> TableInput:
    asset = (parameter,) if isinstance(read, External) else read.asset
    snapshots: dict[str, int] = {}
    versions: dict[str, str] = {}
    for one in ready.values():
        snapshots.update(one.go.snapshots[asset])
        versions.update({day: known for day, known in one.go.versions[asset].items() if known is not None})
    is_whole = isinstance(read, External) and read.window is None
    return TableInput(
        parameter=parameter,
        asset=name_of(asset),
        table=_place_of(read, declaration, platform),
        window={} if is_whole else _windows(asset, ready, declaration, platform),
        snapshots=snapshots,
        versions=versions,
        raw=read.raw,
        is_external=isinstance(read, External),
        is_whole=is_whole,
        columns=_columns(read.dataset.fields) if isinstance(read, External) else (),
    )


def _place_of(read: Read | External, declaration: JobDeclaration, platform: Platform) -> str:
    if isinstance(read, External):
        return read.table
    table = platform.table_of(read.asset) if read.asset in platform.graph.nodes else None
    if table is None:
        raise BadDeclarationError(
            f'input of "{declaration.lineage_job.name}"', name_of(read.asset), "read an asset that is a table"
        )
    return table


def _windows(
    asset: AssetKey, ready: Mapping[str, Ready], declaration: JobDeclaration, platform: Platform
) -> dict[str, tuple[str, str]]:
    node = declaration.nodes[0]
    days = {target: keys_of(reads_of(platform.graph, node, target)[asset]) for target in ready}
    return {target: (read[0], read[-1]) for target, read in days.items() if read}


def _landing(parameter: str, read: Landing, ready: Mapping[str, Ready], platform: Platform) -> LandingInput:
    return LandingInput(
        parameter=parameter,
        format=read.format,
        columns=_columns(read.columns),
        root=str(platform.landing_root(read.folder)),
        files={target: one.landed[parameter].files for target, one in ready.items()},
        versions={target: one.landed[parameter].version for target, one in ready.items()},
    )


def _columns(fields: tuple[Field, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((column.name, column.spark_type) for column in fields)
