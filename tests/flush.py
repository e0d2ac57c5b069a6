"""Emptying the database after a test that commits, in milliseconds.

Django truncates every table, touched or not, and then has every app make its first rows anew: a tenth of a second,
for each of hundreds of tests.
"""

import threading

from django.db import connection

from ragsite import db
from retrieval.engine import partitions

# What the migrations and the apps put into an empty database is kept apart; `restore` empties the other tables and puts
# back what has changed in these. Foreign keys are not looked at meanwhile, so that the tables may come in any order.
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
    """Keep what is in a new database, for `restore`."""
    with connection.cursor() as cursor:
        cursor.execute(_KEEP)


def restore(*_: object) -> None:
    """Leave the database as it was kept, once nothing that a test left running on a database thread writes to it."""
    if (executor := db._executor) is not None:
        together = threading.Barrier(executor._max_workers)  # so that each thread has come to an end
        for ended in [executor.submit(together.wait, 60) for _thread in range(together.parties)]:
            ended.result()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pristine.restore()")
    partitions.drop_orphans()
