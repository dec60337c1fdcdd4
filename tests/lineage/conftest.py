"""What tests in this folder ask a lineage server with."""

from tests.support.lineage_server import lineage_client, lineage_namespace, lineage_url

__all__ = ["lineage_client", "lineage_namespace", "lineage_url"]
