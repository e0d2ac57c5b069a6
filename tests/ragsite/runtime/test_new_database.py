"""The tables of a new database equal those after all migrations."""

import pytest
from django.db import connection

from ragsite.runtime import new_database

# What is compared of a schema: rows of text, without the schema's name.
_CATALOGUE = {
    "columns": """
        SELECT relname, attname, format_type(atttypid, atttypmod), attnotnull, attstorage, attcompression, attidentity,
            attcollation::regcollation, pg_get_expr(adbin, adrelid)
        FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
            LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE attnum > 0 AND NOT attisdropped AND relkind IN ('r', 'p') AND relnamespace = %s::regnamespace""",
    "relations": "SELECT relname, relkind, reloptions FROM pg_class WHERE relnamespace = %s::regnamespace",
    "indexes": "SELECT indexdef FROM pg_indexes WHERE schemaname = %s",
    "constraints": """
        SELECT conrelid::regclass, conname, pg_get_constraintdef(oid), condeferrable, condeferred
        FROM pg_constraint WHERE connamespace = %s::regnamespace""",
    "functions": "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = %s::regnamespace AND prokind = 'f'",
    "triggers": """
        SELECT pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid
        WHERE NOT tgisinternal AND relnamespace = %s::regnamespace""",
}


def _catalogue(schema: str) -> dict[str, set[str]]:
    with connection.cursor() as cursor:
        found = {}
        for name, query in _CATALOGUE.items():
            cursor.execute(query, [schema])
            found[name] = {str(row).replace(f"{schema}.", "") for row in cursor.fetchall()}
        cursor.execute("SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = %s::regnamespace", [schema])
        tables = [name for (name,) in cursor.fetchall()]
        cursor.execute(" UNION ALL ".join(f"SELECT '{name}', count(*) FROM {schema}.{name}" for name in tables))
        found["rows"] = {str(row) for row in cursor.fetchall()}
        cursor.execute(f"SELECT app, name FROM {schema}.django_migrations")
        return found | {"migrations": {str(row) for row in cursor.fetchall()}}


@pytest.mark.django_db
def test_the_tables_are_those_of_the_migrations() -> None:
    assert not new_database.is_new()
    with connection.cursor() as cursor:
        # Another schema of the test's database, as new: all of it ends with the test's transaction.
        cursor.execute("CREATE SCHEMA extensions; ALTER EXTENSION vector SET SCHEMA extensions; CREATE SCHEMA new")
        cursor.execute("SET LOCAL search_path TO new, extensions")
    assert new_database.is_new()
    new_database.create()
    made, migrated = _catalogue("new"), _catalogue("public")
    assert len(made["relations"]) > 300 and len(made["migrations"]) > 100
    differences = {name: made[name] ^ migrated[name] for name in migrated}
    assert {name: found for name, found in differences.items() if found} == {}
