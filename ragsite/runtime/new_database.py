"""Create the tables of a new database directly, in the state after all migrations.

Running the migrations one by one would take most of a first start, since Django builds the models of each step.
Operations on rows are left out, since there are none: Python code, and SQL marked as `elidable`, which Django also
omits from squashed migrations. A test compares the result with that of the migrations.
"""

from collections.abc import Sequence

from django.contrib.postgres.operations import CreateExtension
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations import CreateModel, RunSQL, SeparateDatabaseAndState
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.operations.base import Operation


def is_new() -> bool:
    """Return whether the database has no tables."""
    return not connection.introspection.table_names()


def create() -> None:
    """Create all tables, and the rows that apps add after migrating, in one transaction."""
    executor = MigrationExecutor(connection)
    plan = [migration for migration, _ in executor.migration_plan(executor.loader.graph.leaf_nodes())]
    state = executor.loader.project_state()
    extensions, statements, with_statements = [], [], set()
    for migration in plan:
        for operation in migration.operations:
            parts: Sequence[Operation] = [operation]
            if isinstance(operation, SeparateDatabaseAndState):  # a table created by SQL
                parts = operation.database_operations
                models = [part for part in operation.state_operations if isinstance(part, CreateModel)]
                with_statements |= {(migration.app_label, model.name_lower) for model in models}
            extensions += [(migration.app_label, part) for part in parts if isinstance(part, CreateExtension)]
            statements += [
                (migration.app_label, part) for part in parts if isinstance(part, RunSQL) and not part.elidable
            ]
    with transaction.atomic():
        with connection.schema_editor() as editor:
            for app, operation in extensions:
                operation.database_forwards(app, editor, state, state)
            for model in state.apps.get_models():
                key = (model._meta.app_label, str(model._meta.model_name))
                if model._meta.can_migrate(connection) and key not in with_statements:
                    editor.create_model(model)
            for app, operation in statements:
                operation.database_forwards(app, editor, state, state)
        for migration in plan:
            executor.recorder.record_applied(migration.app_label, migration.name)
        call_command("migrate", verbosity=0, interactive=False)  # only emits post-migrate signals
