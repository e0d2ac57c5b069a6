"""Django's PostgreSQL backend, which starts the embedded server on the first connection."""

from contextlib import suppress
from typing import Any

import psycopg
from django.db.backends.postgresql import base

from ragsite.runtime import embedded


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection to the embedded PostgreSQL through its Unix socket."""

    def get_connection_params(self) -> dict[str, Any]:
        """Return psycopg's parameters; starts the server if it isn't running."""
        params: dict[str, Any] = super().get_connection_params()
        params["host"] = embedded.socket_directory()
        return params

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect; creates the database if it doesn't exist."""
        try:
            return super().get_new_connection(conn_params)
        except psycopg.OperationalError as error:
            if "does not exist" not in str(error) or self.settings_dict["NAME"] != conn_params.get("dbname"):
                raise
            name = conn_params["dbname"]
            created = psycopg.sql.SQL("CREATE DATABASE {}").format(psycopg.sql.Identifier(name))
            where = {"host": conn_params["host"], "user": conn_params.get("user"), "dbname": "postgres"}
            # Several processes of a first start may try this at the same time.
            late = suppress(psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation)
            with psycopg.connect(**where, autocommit=True) as connection, late:
                connection.execute(created)
            return super().get_new_connection(conn_params)
