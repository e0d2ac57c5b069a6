"""The site's tables: copied out of one snapshot, and loaded into new tables in one transaction.

`pg_dump` isn't used, since a site may move to a server of another version (docs/decisions/backups.md). The new tables
are made by the migrations that the backed-up site had applied; only partitions, which a site makes while it runs, are
described in the backup.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, LiteralString

import psycopg.errors
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, OperationalError, ProgrammingError, connection, connections, transaction
from django.db.backends.utils import CursorWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.models import FileField
from django.utils.translation import gettext as _
from psycopg import sql

from ragsite.backup.archive import BackupError, Writer
from ragsite.runtime import new_database

MIGRATIONS = "django_migrations"
_RESTORING = 7_246_783  # the number of an advisory lock, held from marking the database until the commit
# How values are written, whatever the server's configuration.
_FORMATS = "SET LOCAL datestyle = 'ISO, MDY'; SET LOCAL intervalstyle = postgres; SET LOCAL bytea_output = hex"
_NO_LIMITS = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0"
_TABLES = "SELECT relname, relkind::text FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = {schema}"
_COLUMNS = """
SELECT relname, attname, format_type(atttypid, NULL) FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
WHERE relnamespace = {schema} AND relkind = 'r' AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
ORDER BY relname, attnum
"""
# The statement that creates an index, without the schema. PostgreSQL's shorter form changes some expressions.
_DEFINITION = r"regexp_replace(pg_get_indexdef(indexrelid), ' ON (ONLY )?\S+?\.', ' ON ')"
_PARTITIONS = """
SELECT c.relname, p.relname, pg_get_expr(c.relpartbound, c.oid),
    ARRAY(SELECT format('CONSTRAINT %I %s', conname, pg_get_constraintdef(oid)) FROM pg_constraint
        WHERE conrelid = c.oid AND contype = 'c' AND coninhcount = 0),
    ARRAY(SELECT {definition} FROM pg_index
        WHERE indrelid = c.oid AND indisvalid AND indexrelid NOT IN (SELECT inhrelid FROM pg_inherits))
FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid JOIN pg_class p ON p.oid = inhparent
WHERE c.relispartition AND c.relkind = 'r' AND c.relnamespace = {schema} ORDER BY c.relname
"""
_SEQUENCES = """
SELECT relname, attname, pg_get_serial_sequence(quote_ident(relname), attname)
FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
WHERE relnamespace = {schema} AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
    AND pg_get_serial_sequence(quote_ident(relname), attname) IS NOT NULL
"""
# Without conditional ones, whose conditions PostgreSQL would read differently from how it wrote them.
_INDEXES = """
SELECT c.relname, i.relname, {definition}
FROM pg_index JOIN pg_class i ON i.oid = indexrelid JOIN pg_class c ON c.oid = indrelid
WHERE c.relnamespace = {schema} AND NOT c.relispartition AND indpred IS NULL
    AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)
"""
_FOREIGN_KEYS = """
SELECT relname, conname, pg_get_constraintdef(k.oid) FROM pg_constraint k JOIN pg_class c ON c.oid = conrelid
WHERE relnamespace = {schema} AND contype = 'f' AND conparentid = 0
"""
_OTHERS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND coalesce(backend_type, '') IN ('', 'client backend')
"""


class Changed(Exception):
    """The site changed its tables while they were listed; try again."""


# --- Copying them out ---------------------------------------------------------------------------------


@contextmanager
def snapshot() -> Iterator[CursorWrapper]:
    """Context manager with a cursor that sees the database as it is now, whatever the site does meanwhile."""
    own = connections.create_connection(DEFAULT_DB_ALIAS)
    try:
        with own.cursor() as cursor:
            cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            cursor.execute(f"{_FORMATS}; {_NO_LIMITS}; SET LOCAL lock_timeout = '30s'")
            names = [name for name, _kind in _own_tables(cursor)]
            if names:
                try:  # so that none is dropped or altered before it is copied
                    cursor.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(_names(names)))
                except (ProgrammingError, OperationalError) as error:
                    raise Changed from error
            yield cursor
    finally:
        own.close()  # ends the transaction, too


def referenced_files(cursor: CursorWrapper) -> set[str]:
    """Return the paths, within the folder of documents, of all files that rows refer to."""
    columns = _columns(cursor)
    found: set[str] = set()
    for model in apps.get_models():
        for field in model._meta.local_fields:
            table = model._meta.db_table
            if isinstance(field, FileField) and field.column in dict(columns.get(table, ())):
                query = sql.SQL("SELECT DISTINCT {0} FROM {1} WHERE {0} <> ''")
                cursor.execute(query.format(sql.Identifier(field.column), sql.Identifier(table)))
                found |= {path for (path,) in cursor.fetchall()}
    return found


def dump(cursor: CursorWrapper, writer: Writer) -> dict[str, Any]:
    """Write all tables, one member each, and return their description for `load`.

    Tables are written as text; those with vectors in PostgreSQL's binary format, which is four times as short.
    """
    columns = _columns(cursor)
    tables: dict[str, Any] = {}
    for table, kind in _own_tables(cursor):
        if kind != "r":
            continue  # its rows are in its partitions
        names = [name for name, _type in columns[table]]
        binary = any(kind in ("halfvec", "vector") for _name, kind in columns[table])
        statement = sql.SQL("COPY {} ({}) TO STDOUT (FORMAT {})")
        copied = statement.format(sql.Identifier(table), _names(names), sql.SQL("binary" if binary else "text"))
        with connection.wrap_database_errors, cursor.copy(copied) as copy:
            writer.add(f"database/{table}", _gathered(copy), compress=not binary)
        tables[table] = {"columns": names, "rows": cursor.rowcount, "binary": binary}
    return {
        "server": _fetch(cursor, "SHOW server_version")[0][0],
        "migrations": _fetch(cursor, f"SELECT app, name FROM {MIGRATIONS} ORDER BY id"),
        "tables": tables,
        "partitions": _fetch(cursor, _PARTITIONS),
        "sequences": [
            [table, column, *_fetch(cursor, f"SELECT last_value, is_called FROM {sequence}")[0]]
            for table, column, sequence in _fetch(cursor, _SEQUENCES)
            if table in tables
        ],
    }


def _gathered(copy: Iterable[bytes | memoryview], size: int = 256 * 1024) -> Iterator[bytes]:
    """Yield rows in larger pieces: there is one piece per row."""
    buffer = bytearray()
    for row in copy:
        buffer += row
        if len(buffer) >= size:
            yield bytes(buffer)
            buffer.clear()
    yield bytes(buffer)


# --- Loading them -------------------------------------------------------------------------------------


def newer_migrations(described: dict[str, Any]) -> bool:
    """Return whether a backup has migrations that come after those of this version."""
    last: dict[str, str] = {}
    for app, name in MigrationExecutor(connection).loader.disk_migrations:
        last[app] = max(last.get(app, ""), name)
    # Older ones may be unknown, too: packages replace and remove theirs.
    return any(name > last.get(app, "") for app, name in described["migrations"])


def load(described: dict[str, Any], read: Callable[[str], Iterator[bytes]]) -> None:
    """Replace the site's tables by those of a backup and migrate them, within the caller's transaction.

    `read` returns the bytes of a table. Raises `BackupError` if the database rejects them.
    """
    with connection.cursor() as cursor:
        # Checks that are still pending would prevent changes of the tables.
        cursor.execute(f"{_FORMATS}; {_NO_LIMITS}; SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(f"SET LOCAL maintenance_work_mem = '{int(settings.HNSW_BUILD_MEMORY_MB)}MB'")
        if names := [name for name, _kind in _own_tables(cursor)]:
            cursor.execute(sql.SQL("DROP TABLE {} CASCADE").format(_names(names)))
        _create_tables([(app, name) for app, name in described["migrations"]])
        cursor.execute(sql.SQL("TRUNCATE {}").format(_names(name for name, _kind in _own_tables(cursor))))
        indexes, keys = _drop_indexes_and_keys(cursor)
        for name, parent, bounds, constraints, own_indexes in described["partitions"]:
            statement = sql.SQL("CREATE TABLE {} PARTITION OF {} {} {}")
            inner = sql.SQL(f"({', '.join(constraints)})" if constraints else "")
            cursor.execute(statement.format(*map(sql.Identifier, (name, parent)), inner, sql.SQL(bounds)))
            indexes += own_indexes
        for table, details in described["tables"].items():
            _load_table(cursor, table, details, read(table))
        for added in (*indexes, *keys):
            _execute_with_little_shared_memory(cursor, added)
        for table, column, last, is_called in described["sequences"]:
            sequence = "pg_get_serial_sequence(quote_ident(%s), %s)"
            cursor.execute(f"SELECT setval({sequence}, %s, %s)", [table, column, last, is_called])
    call_command("migrate", verbosity=0, interactive=False)
    with connection.cursor() as cursor:
        for name, _kind in _own_tables(cursor):
            cursor.execute(sql.SQL("ANALYZE {}").format(sql.Identifier(name)))


def is_empty() -> bool:
    """Return whether the database has no accounts, so that nothing is lost when it is replaced."""
    with connection.cursor() as cursor:
        if "auth_user" not in dict(_own_tables(cursor)):
            return True
        cursor.execute("SELECT NOT EXISTS (SELECT 1 FROM auth_user)")
        return bool(cursor.fetchone()[0])


def other_connections() -> int:
    """Return the number of connections to the database besides this one."""
    with connection.cursor() as cursor:
        cursor.execute(_OTHERS)
        return int(cursor.fetchone()[0])


def mark(token: str) -> None:
    """Note in the database, as part of the current transaction, which restore made it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_RESTORING])
        cursor.execute(sql.SQL("COMMENT ON TABLE {} IS {}").format(sql.Identifier(MIGRATIONS), sql.Literal(token)))


def marked() -> str:
    """Return the token of the restore that made the database; empty if none did.

    Waits for a transaction that was killed but may still be committed.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_RESTORING])
        cursor.execute("SELECT coalesce(obj_description(to_regclass(%s), 'pg_class'), '')", [MIGRATIONS])
        return str(cursor.fetchone()[0])


def _create_tables(applied: list[tuple[str, str]]) -> None:
    """Create the tables as they were after the `applied` migrations."""
    executor = MigrationExecutor(connection)
    graph = executor.loader.graph
    plan = executor.migration_plan(graph.leaf_nodes())
    if {(migration.app_label, migration.name) for migration, _backwards in plan} <= set(applied):
        new_database.create()
        return
    nodes = [node for node in applied if node in graph.nodes]
    inner = {parent.key for node in nodes for parent in graph.node_map[node].parents if parent.key[0] == node[0]}
    executor.migrate([node for node in nodes if node not in inner])


def _drop_indexes_and_keys(cursor: CursorWrapper) -> tuple[list[str], list[str]]:
    """Drop indexes and foreign keys, since it is faster to add them to full tables; return the statements to do so."""
    own = {name for name, _kind in _own_tables(cursor)}
    keys = [row for row in _fetch(cursor, _FOREIGN_KEYS) if row[0] in own]
    for table, name, _definition in keys:
        cursor.execute(sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(sql.Identifier(table), sql.Identifier(name)))
    indexes = [row[1:] for row in _fetch(cursor, _INDEXES) if row[0] in own]
    for name, _definition in indexes:
        cursor.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(name)))
    adding = sql.SQL("ALTER TABLE {} ADD CONSTRAINT {} {}")
    return (
        [definition for _name, definition in indexes],
        [
            adding.format(sql.Identifier(table), sql.Identifier(name), sql.SQL(definition)).as_string()
            for table, name, definition in keys
        ],
    )


def _load_table(cursor: CursorWrapper, table: str, details: dict[str, Any], pieces: Iterator[bytes]) -> None:
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT {})").format(
        sql.Identifier(table), _names(details["columns"]), sql.SQL("binary" if details["binary"] else "text")
    )
    with connection.wrap_database_errors, cursor.copy(statement) as copy:
        for piece in pieces:
            copy.write(piece)
    if cursor.rowcount != details["rows"]:
        message = _("The table %(table)s has %(rows)d rows in the backup, but %(found)d were read from it.")
        raise BackupError(message % {"table": table, "rows": details["rows"], "found": cursor.rowcount})


def _execute_with_little_shared_memory(cursor: CursorWrapper, statement: str) -> None:
    """Run a statement, again without parallel workers if they have too little shared memory, as in containers."""
    try:
        with transaction.atomic():
            cursor.execute(statement)
    except OperationalError as error:
        if not isinstance(error.__cause__, psycopg.errors.DiskFull):
            raise
        cursor.execute("SET LOCAL max_parallel_maintenance_workers = 0")
        cursor.execute(statement)


# --- The catalogue ------------------------------------------------------------------------------------


def _own_tables(cursor: CursorWrapper) -> list[tuple[str, str]]:
    """Return the names and kinds (`r`, or `p` if it has partitions) of the site's tables, not those of other programs.

    They begin with the label of an app; a site of another version may have others than today's models.
    """
    prefixes = ("django_", *(f"{config.label}_" for config in apps.get_app_configs()))
    return sorted((name, kind) for name, kind in _fetch(cursor, _TABLES) if name.startswith(prefixes))


def _columns(cursor: CursorWrapper) -> dict[str, list[tuple[str, str]]]:
    """Return the names and types of the stored columns by table."""
    found: dict[str, list[tuple[str, str]]] = {}
    for table, name, kind in _fetch(cursor, _COLUMNS):
        found.setdefault(table, []).append((name, kind))
    return found


def _fetch(cursor: CursorWrapper, query: LiteralString | str) -> list[Any]:
    cursor.execute(query.replace("{definition}", _DEFINITION).replace("{schema}", "current_schema()::regnamespace"))
    return [list(row) for row in cursor.fetchall()]


def _names(names: Iterable[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, names))
