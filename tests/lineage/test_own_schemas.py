"""The schemas of our own facets are where the facets say they are."""

from __future__ import annotations

import json
from pathlib import Path

import lineage_assets.lineage
from lineage_assets.lineage.facets import PRODUCER, SCHEMAS

FOLDER = Path(lineage_assets.lineage.__file__).parent / "schemas"


def test_each_schema_is_named_by_its_place_in_the_repository() -> None:
    assert f"{PRODUCER}/raw/facets-1-0-0/lineage_assets/lineage/schemas" == SCHEMAS
    for path in sorted(FOLDER.iterdir()):
        schema = json.loads(path.read_text(encoding="utf-8"))
        assert schema["$id"] == f"{SCHEMAS}/{path.name}"
        assert list(schema["$defs"]) == [path.stem]
