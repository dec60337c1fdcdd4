"""A PostgreSQL server for tests, and Dagster instances on databases of it: started once, gone with this process.

The programs are found on PATH or where Debian keeps them. They refuse to run as root, so root starts them as nobody.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from uuid import uuid4

import pytest
from dagster import DagsterInstance

USER = "dagster"
ZONE = "America/Los_Angeles"
"""Far behind UTC: what takes a stored time for one of the server's own is found out."""
TEMPLATE = "prepared"
START_SECONDS = 60.0
LOOK_SECONDS = 0.05


def program(name: str) -> str | None:
    """A program of PostgreSQL; Debian keeps those of the server off the PATH."""
    kept = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(kept[-1]) if kept else None)


@dataclass(frozen=True)
class Postgres:
    port: int
    password: str

    def url(self, database: str) -> str:
        return f"postgresql://{USER}:{self.password}@127.0.0.1:{self.port}/{database}"

    def execute(self, statement: str, database: str = "postgres") -> None:
        import psycopg2  # noqa: PLC0415 - where no server is, its client is not asked for

        connection = psycopg2.connect(self.url(database))
        try:
            connection.autocommit = True  # databases are made outside transactions
            with connection.cursor() as cursor:
                cursor.execute(statement)
        finally:
            connection.close()

    @contextmanager
    def database(self) -> Iterator[str]:
        """The address of a database with Dagster's tables and nothing in them."""
        name = f"test_{uuid4().hex}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
        try:
            yield self.url(name)
        finally:
            self.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def instance_at(url: str, folder: Path) -> Iterator[DagsterInstance]:
    """The Dagster instance whose storage is this database."""
    folder.mkdir(parents=True, exist_ok=True)
    storage = {"storage": {"postgres": {"postgres_url": url}}, "telemetry": {"enabled": False}}
    with DagsterInstance.local_temp(str(folder), overrides=storage) as instance:
        yield instance


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    """A server on the loopback that asks for a password."""
    postgres, initdb = program("postgres"), program("initdb")
    if postgres is None or initdb is None:
        pytest.skip("no PostgreSQL server is on this machine (Debian: apt-get install postgresql)")
    # Not pytest's own folder: nobody cannot look into one of root's.
    with tempfile.TemporaryDirectory(prefix="postgres-", ignore_cleanup_errors=True) as folder:
        made = Postgres(_free_port(), secrets.token_hex(16))
        account = _account(Path(folder))
        _initialise(initdb, Path(folder), made, account)
        with _running(postgres, Path(folder), made, account):
            made.execute(f"CREATE DATABASE {TEMPLATE}")
            with instance_at(made.url(TEMPLATE), Path(folder) / "instance"):
                pass  # its storages make their tables
            yield made


def _account(folder: Path) -> dict[str, Any]:
    """As whom the server runs: anybody but root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _initialise(initdb: str, folder: Path, made: Postgres, account: dict[str, Any]) -> None:
    key = folder / "password"
    key.write_text(made.password, encoding="utf-8")
    if account:
        os.chown(key, account["user"], account["group"])
    key.chmod(0o600)
    ways = ("--auth=scram-sha-256", f"--pwfile={key}", "--encoding=UTF8", "--locale=C", "--no-sync")
    done = subprocess.run(
        [initdb, "-D", str(folder / "data"), "-U", USER, *ways],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        **account,
    )
    assert done.returncode == 0, done.stderr


@contextmanager
def _running(postgres: str, folder: Path, made: Postgres, account: dict[str, Any]) -> Iterator[None]:
    log = folder / "server.log"
    said = {
        "listen_addresses": "127.0.0.1",
        "port": str(made.port),
        "unix_socket_directories": "",
        "timezone": ZONE,
        "fsync": "off",
    }
    options = [word for name, value in said.items() for word in ("-c", f"{name}={value}")]
    with log.open("wb") as out:
        server = subprocess.Popen(
            [postgres, "-D", str(folder / "data"), *options],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            cwd=folder,
            start_new_session=True,
            **account,
        )
    try:
        _wait_for(made, server, log)
        yield
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _wait_for(made: Postgres, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = monotonic() + START_SECONDS
    while not _answers(made):
        assert server.poll() is None, log.read_text(encoding="utf-8")
        assert monotonic() < deadline, log.read_text(encoding="utf-8")
        sleep(LOOK_SECONDS)


def _answers(made: Postgres) -> bool:
    import psycopg2  # noqa: PLC0415 - as above

    try:
        made.execute("SELECT 1")
    except psycopg2.OperationalError:
        return False
    return True


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port
