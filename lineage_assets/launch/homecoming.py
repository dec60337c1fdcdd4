"""How a report comes home: a Dagster Pipes session, and what the program sent through it.

The same for every launcher on this machine; knows nothing of how the program was started.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dagster import (
    AssetExecutionContext,
    PipesMessageHandler,
    PipesMessageReader,
    PipesSession,
    PipesTempFileContextInjector,
)
from dagster_pipes import PipesContextData, PipesDefaultMessageWriter

from lineage_assets.spark.execution import Failure
from lineage_assets.spark.report import Report


class WholeFileReader(PipesMessageReader):
    """Reads the messages once the program has ended.

    Dagster's readers of files tail them and take what is there of a line for the line: a report of many partitions,
    which takes several writes, is then lost now and then.
    """

    @contextmanager
    def read_messages(self, handler: PipesMessageHandler) -> Iterator[dict[str, Any]]:
        with TemporaryDirectory(prefix="lineage_assets-") as folder:
            messages = Path(folder) / "messages"
            messages.touch()
            try:
                yield {PipesDefaultMessageWriter.FILE_PATH_KEY: str(messages)}
            finally:
                # A program that was killed may leave half a line.
                whole, _, _ = messages.read_text(encoding="utf-8").rpartition("\n")
                for line in filter(None, whole.split("\n")):
                    handler.handle_message(json.loads(line))

    @property
    def expected_writer_count(self) -> int:
        # That of the class above warns, each time, that it is a preview.
        return 1

    def no_messages_debug_text(self) -> str:
        return "The program's messages go through a temporary file."


@contextmanager
def open_home(context: AssetExecutionContext) -> Iterator[PipesSession]:
    """A session through which one program reports; what came is known when it is closed.

    Not Dagster's own `open_pipes_session`: that makes every output of the step compulsory, the check `audit` included,
    which is evaluated only where a partition fails or failed before; and it queries provenance that nobody reads.
    """
    about = PipesContextData(
        asset_keys=sorted(key.to_user_string() for key in context.selected_asset_keys),
        code_version_by_asset_key=None,
        provenance_by_asset_key=None,
        partition_key=None,
        partition_key_range=None,
        partition_time_window=None,
        run_id=context.run.run_id,
        job_name=context.run.job_name,
        retry_number=0,
        extras={},
    )
    handler = PipesMessageHandler(context, WholeFileReader())
    with (
        PipesTempFileContextInjector().inject_context(about) as where,
        handler.handle_messages() as messages,
    ):
        yield PipesSession(about, handler, where, messages, context)


def came_home(session: PipesSession) -> Report | Failure | None:
    """What a program sent, of a session that is closed; None of one that ended before it could."""
    for message in session.get_custom_messages():
        if "report" in message:
            return Report.from_json(message["report"])
        if "failure" in message:
            return Failure(**message["failure"])
    return None
