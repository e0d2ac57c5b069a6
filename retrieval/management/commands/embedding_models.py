"""`manage.py embedding_models list|offered|add|try|use|back|languages|remove`: the embedding models of the site."""

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.forms import model_to_dict
from django.template.defaultfilters import filesizeformat

from ragsite.llm.embedding import model_files
from retrieval.embedding_models import jobs, registry, trial
from retrieval.embedding_models.models import ModelJob, RegisteredModel
from retrieval.embedding_models.registry import NotPossible
from retrieval.evaluation.metrics import FIGURES
from retrieval.evaluation.models import EvaluationSet
from retrieval.management.commands.reembed import command_errors, dimension, languages, progress_bar, say, url

Kind = ModelJob.Kind
_AGAIN = "Nothing is lost: run the same command again to continue."


class Command(BaseCommand):
    """The actions of the page “Embedding models” in the admin, run in this process instead of a worker."""

    help = "List, add, try, switch to and remove the site's embedding models. Search stays available meanwhile."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the actions and their arguments."""
        actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
        actions.add_parser("list", help="list the models, the one in use first").add_argument(
            "--json", action="store_true", help="print JSON"
        )
        actions.add_parser("offered", help="list the models that `add NAME` can download")
        add = actions.add_parser("add", help="add a model: a download, a folder or archive, or one behind an endpoint")
        add.add_argument(
            "name", metavar="NAME", help="one of `offered`, a folder, a zip or tar.gz file, or an endpoint's model"
        )
        add.add_argument(
            "--as", dest="called", metavar="NAME", help="name on this site (default: the file's or folder's name)"
        )
        add.add_argument(
            "--sha256",
            action="append",
            default=[],
            metavar="[FILE=]HEX",
            help="checksum of a downloaded file (default: the weights)",
        )
        add.add_argument("--base-url", type=url, metavar="URL", help="the endpoint's URL, up to and including /v1")
        add.add_argument("--dimension", type=dimension, metavar="N", help="dimensions to request from an endpoint")
        add.add_argument(
            "--languages",
            type=languages,
            metavar="en,zh|all",
            help="languages it knows (default: inferred from its name)",
        )
        add.epilog = "The endpoint's key is read from EMBEDDING_API_KEY, or prompted for."
        tried = actions.add_parser("try", help="compare a model with the one in use on the question sets")
        tried.add_argument("name", metavar="NAME")
        tried.add_argument(
            "--set", action="append", default=[], metavar="SET", help="name of a question set (default: all)"
        )
        actions.add_parser("use", help="compute all vectors with a model, then switch to it").add_argument(
            "name", metavar="NAME"
        )
        actions.add_parser("back", help="switch back to the model that was in use before")
        known = actions.add_parser("languages", help="set the languages that a model knows, with immediate effect")
        known.add_argument("name", metavar="NAME")
        known.add_argument("languages", type=languages, metavar="en,zh|all")
        removed = actions.add_parser("remove", help="remove a model that isn't in use, with its vectors and files")
        removed.add_argument("name", metavar="NAME")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the action; errors say what to do."""
        try:
            with command_errors("Another switch of models is in progress. Wait until it has finished.", _AGAIN):
                getattr(self, f"_{options['action']}")(options)
        except jobs.FAILURES as error:
            raise CommandError(str(error)) from error

    def _list(self, options: dict[str, Any]) -> None:
        found = registry.all_models()
        if options["json"]:
            rows = [
                model_to_dict(each.model, ("name", "source", "state", "license", "size", "dimension"))
                | {"in_use": each.in_use, "filled": each.filled, "languages": each.model.languages or ["all"]}
                | {"vectors": each.vectors, "vectors_size": each.disk}
                for each in found
            ]
            self.stdout.write(json.dumps(rows, ensure_ascii=False, indent=2))
            return
        for each in found:
            if each.in_use:
                state = "in use" if each.filled else "in use, vectors missing"
            else:
                state = "kept" if each.kept else each.model.get_state_display()
            self.stdout.write(f"{each.model.name}  ({state})")
            size = disk_size(each.model.size) if each.model.size else "at " + each.model.base_url
            if not each.model.size and not each.model.base_url:
                size = "size unknown"
            facts = [
                each.model.get_source_display(),
                ", ".join(each.model.languages) or "all languages",
                each.model.license or "licence unknown",
                size,
                f"{each.model.dimension or '?'} dimensions",
                f"{each.vectors} vectors" + (f" ({disk_size(each.disk)})" if each.vectors else ""),
            ]
            self.stdout.write(f"    {' · '.join(facts)}")
        if settings.EMBEDDING_GIVEN:
            self.stdout.write(f"The model in use is set in the environment by {', '.join(settings.EMBEDDING_GIVEN)}.")

    def _offered(self, options: dict[str, Any]) -> None:
        for each in registry.offered():
            known = ", ".join(each.languages) or "all languages"
            self.stdout.write(
                f"{each.name}  {known} · {each.license} · {(each.size or 0) / 1e6:.0f} MB · {each.dimension} dimensions"
            )

    def _add(self, options: dict[str, Any]) -> None:
        path = Path(options["name"]).expanduser()
        details: dict[str, Any] = {}
        known = options["languages"]
        if options["base_url"]:
            key = settings.EMBEDDING_API_KEY
            if not key and sys.stdin.isatty():
                from getpass import getpass

                key = getpass("API key (empty for none): ")
            details["dimension"] = options["dimension"]
            model = registry.register(
                options["name"], registry.Source.ENDPOINT, base_url=options["base_url"], key=key, known=known
            )
        elif path.exists():
            details["origin"] = str(path.resolve())
            called = options["called"] or model_files.name_of(path.name)
            model = registry.register(called, registry.Source.FILES, known=known)
        else:
            details["digests"] = digests_of(options["name"], options["sha256"])
            model = registry.register(options["name"], registry.Source.HUB, known=known)
        with progress_bar("Adding", "B") as progress:
            jobs.run(model, Kind.ADD, progress, say, details)
        self.stdout.write(f"Added {model.name}: {model.dimension} dimensions, {model.license or 'licence unknown'}.")
        for file, digest in sorted(model.digests.items()):
            self.stdout.write(f"    {digest}  {file}")

    def _try(self, options: dict[str, Any]) -> None:
        model = registry.find(options["name"])
        details: dict[str, Any] = {}
        if options["set"]:
            details["sets"] = list(EvaluationSet.objects.filter(name__in=options["set"]).values_list("pk", flat=True))
            if not details["sets"]:
                raise CommandError(f"There is no question set named {options['set'][0]!r}.")
        with progress_bar("Trying", "") as progress:
            found = jobs.run(model, Kind.TRY, progress, say, details)
        for result in found["results"]:
            self._compare(f"{result['name']} ({result['base']})", result)
        if total := trial.summary(found):
            self._compare(f"All {total['questions']} questions", total)
        if found.get("passages"):
            self.stdout.write(f"{found['passages']} passages took {found['seconds']} s.")

    def _compare(self, title: str, result: dict[str, Any]) -> None:
        self.stdout.write(title)
        if "error" in result:
            self.stdout.write(f"    {result['error']}")
            return
        for name in FIGURES:
            now, then = result["now"][name], result["then"][name]
            self.stdout.write(f"    {name:<10} {now:.3f} → {then:.3f}  ({then - now:+.3f})")

    def _use(self, options: dict[str, Any]) -> None:
        self._change_to(registry.find(options["name"]))

    def _back(self, options: dict[str, Any]) -> None:
        model = registry.previous()
        if model is None:
            raise NotPossible("There is no model to switch back to: no model used before still has its vectors.")
        self._change_to(model)

    def _change_to(self, model: RegisteredModel) -> None:
        with progress_bar("Embedding", " passages") as progress:
            jobs.run(model, Kind.USE, progress, say, {})
        self.stdout.write(f"Search now uses {model.name}.")
        if (before := registry.previous()) is not None:
            self.stdout.write(
                f"The vectors of {before.name} are kept: `back` switches back to it, `remove` deletes them."
            )

    def _languages(self, options: dict[str, Any]) -> None:
        model = registry.find(options["name"])
        registry.set_languages(model, options["languages"])
        self.stdout.write(f"{model.name} knows {', '.join(model.languages) or 'every language'}.")

    def _remove(self, options: dict[str, Any]) -> None:
        model = registry.find(options["name"])
        registry.remove(model)
        self.stdout.write(
            f"Removed {model.name}." if model.source != "bundled" else f"Deleted the vectors of {model.name}."
        )


def disk_size(size: int) -> str:
    """Return a file size in words, with characters that any terminal can show."""
    return str(filesizeformat(size)).replace("\N{NO-BREAK SPACE}", " ")


def digests_of(name: str, given: list[str]) -> dict[str, str]:
    """Return the given checksums by file; one without a file is that of the weights. Raises `CommandError`."""
    found = {}
    for each in given:
        file, _equals, digest = each.rpartition("=")
        if len(digest) != 64 or not set(digest.lower()) <= set("0123456789abcdef"):
            raise CommandError(f"{digest!r} is not a SHA-256 checksum in hexadecimal.")
        found[file or registry.weights_of(name)] = digest.lower()
    return found
