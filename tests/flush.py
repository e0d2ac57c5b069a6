"""Flush the database after a test that commits, in milliseconds.

Django truncates every table, whether it was changed or not, and lets every app recreate its initial rows: a tenth of a
second, for each of hundreds of tests.
"""

import threading

from django.db import connection

from ragsite import db
from retrieval.engine import partitions

# Initial rows of migrations and apps are copied to another schema; `restore` empties all other tables and restores
# those rows if they have changed. Foreign keys aren't checked meanwhile, so the order of the tables doesn't matter.
_KEEP = """
CREATE SCHEMA pristine;

CREATE FUNCTION pristine.tables() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT quote_ident(relname) FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND NOT relispartition
$$;

DO $$
DECLARE
    name text;
    filled boolean;
BEGIN
    FOR name IN SELECT pristine.tables() LOOP
        EXECUTE 'SELECT EXISTS (TABLE public.' || name || ')' INTO filled;
        IF filled THEN
            EXECUTE 'CREATE TABLE pristine.' || name || ' AS TABLE public.' || name;
        END IF;
    END LOOP;
END
$$;

CREATE FUNCTION pristine.restore() RETURNS void LANGUAGE plpgsql SET session_replication_role = replica AS $$
DECLARE
    name text;
    changed boolean;
BEGIN
    FOR name IN SELECT pristine.tables() LOOP
        IF to_regclass('pristine.' || name) IS NULL THEN
            EXECUTE 'DELETE FROM public.' || name;
            CONTINUE;
        END IF;
        EXECUTE 'SELECT (SELECT count(*) FROM public.' || name || ') <> (SELECT count(*) FROM pristine.' || name ||
            ') OR EXISTS (SELECT t::text FROM public.' || name ||
            ' t EXCEPT SELECT t::text FROM pristine.' || name || ' t)' INTO changed;
        IF changed THEN
            EXECUTE 'DELETE FROM public.' || name;
            EXECUTE 'INSERT INTO public.' || name || ' TABLE pristine.' || name;
        END IF;
    END LOOP;
END
$$;
"""


def keep() -> None:
    """Copy the rows of a new database, for `restore`."""
    with connection.cursor() as cursor:
        cursor.execute(_KEEP)


def restore(*_: object) -> None:
    """Restore the initial rows, once work that a test left on database threads has ended."""
    if (executor := db._executor) is not None:
        together = threading.Barrier(executor._max_workers)  # so that each thread has finished its work
        for ended in [executor.submit(together.wait, 60) for _thread in range(together.parties)]:
            ended.result()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pristine.restore()")
    partitions.drop_orphans()
