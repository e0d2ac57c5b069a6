"""The problems that the system check finds in a pipeline before it runs, each with a hint."""

import re

import pytest
from django.conf import settings as site_settings
from django.core.checks import CheckMessage, run_checks
from django.utils.module_loading import import_string

from conversations.pipeline.graph import Graph, GraphError, Node, When
from conversations.pipeline.hooks import HookError, load_hooks
from conversations.pipeline.validation import graph_problems
from ragsite.db import PATIENCE
from tests.conversations.nodes import make_node

FIRST = make_node("first", writes=("started", "answer.blocks"))
HERE = "tests.conversations.pipeline.test_graph_validation"


def found(*nodes: Node) -> list[tuple[str, str, str]]:
    return [(problem.kind, problem.message, problem.hint) for problem in graph_problems(Graph([FIRST, *nodes]))]


def checks() -> list[CheckMessage]:
    return [message for message in run_checks() if (message.id or "").startswith("conversations")]


def test_the_default_pipeline_has_no_problems() -> None:
    assert graph_problems(Graph.from_settings()) == []
    assert checks() == []


def test_every_default_node_declares_fields_and_every_field_has_a_reader_or_a_writer() -> None:
    graph = Graph.from_settings()
    assert [node.key for node in graph.nodes.values() if not (node.reads or node.writes)] == []


def test_default_nodes_have_a_timeout_of_at_most_thirty_seconds_with_exceptions() -> None:
    nodes = Graph.from_settings().nodes.values()
    # These are limited by settings of their own, which their own tests check.
    assert {node.key for node in nodes if node.timeout is None} == {
        "wait_for_files", "read_documents", "understand", "rewrite", "reader", "rerank", "filter", "generate",
    }  # fmt: skip
    # Saving is tried for as long as the database may be away.
    assert {node.key: node.timeout for node in nodes if (node.timeout or 0) > 30} == {"save": PATIENCE + 30}
    assert make_node("any").timeout == 30


def test_only_failures_of_necessary_nodes_fail_the_turn() -> None:
    fail = {key for key, node in Graph.from_settings().nodes.items() if node.on_error == "fail"}
    assert fail == {
        "save_question", "system_context", "understand", "search", "fusion", "load_passages", "compose_prompt",
        "generate",
    }  # fmt: skip


def test_a_node_is_named_like_its_class_and_its_file() -> None:
    paths = {path for pipeline in site_settings.PIPELINES.values() for path in pipeline}
    for path in paths:
        module, _, _name = path.rpartition(".")
        (named,) = (base for base in import_string(path).__mro__ if "key" in vars(base) and base is not Node)
        words = re.sub(r"(?<!^)(?=[A-Z])", "_", named.__name__).lower()
        assert module.rpartition(".")[2] == words == named.key, path


def test_an_input_that_no_node_writes_is_found() -> None:
    [(kind, message, hint)] = found(make_node("rank", reads=("found.hits",)))
    assert kind == "missing input" and "'rank' reads 'found.hits'" in message and "writes 'found.hits'" in hint


def test_an_input_that_is_written_too_late_is_found_with_its_writer() -> None:
    [(kind, _message, hint)] = found(
        make_node("rank", reads=("found.hits",)), make_node("load_passages", writes=("found.hits",))
    )
    assert kind == "missing input" and "Make 'rank' run after 'load_passages'" in hint


def test_request_fields_and_optional_inputs_are_no_problem() -> None:
    assert found(make_node("a", reads=("request.question", "request.session_id"), may_read=("found.hits",))) == []


def test_a_field_that_the_state_does_not_have_is_found() -> None:
    [(kind, message, hint)] = found(make_node("a", writes=("hitz",)))
    assert kind == "unknown field" and "'hitz'" in message and "extra.hitz" in hint
    assert found(make_node("a", writes=("extra.weather",)), make_node("b", reads=("extra.weather",))) == []


def test_unreachable_nodes_and_their_followers_are_found() -> None:
    chooser = make_node("choose", branches=("end",))
    lost = found(chooser, make_node("lost"), make_node("behind"), make_node("end", after=("choose",)))
    assert [(kind, message.split("'")[1]) for kind, message, _hint in lost] == [
        ("unreachable", "lost"), ("unreachable", "behind")
    ]  # fmt: skip
    assert "`branches` of 'choose'" in lost[0][2]


def test_concurrent_nodes_that_use_the_same_field_are_found() -> None:
    left = make_node("left", after=("first",), writes=("found.hits",))
    right = make_node("right", after=("first",), may_read=("found.hits",))
    [(kind, message, hint)] = found(left, right)
    assert kind == "side by side" and "'left' and 'right'" in message and "'found.hits'" in message and "after" in hint
    assert found(left, make_node("right", after=("left",), may_read=("found.hits",))) == []


def test_a_pipeline_that_never_starts_or_answers_is_found() -> None:
    names = {problem.message.split("'")[1] for problem in graph_problems(Graph([make_node("a")]))}
    assert names == {"started", "answer.blocks"}


class Nameless(Node):
    key = "Not a slug"

    async def run(self, state: object, ctx: object) -> None:
        pass


class Unwritten(Node):
    key = "unwritten"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("conversations.nowhere.Node", "can't be imported"),
        ("conversations.events.Delta", "not a pipeline node"),
        (f"{HERE}.Nameless", "no usable key"),
        (f"{HERE}.Unwritten", "can't be instantiated"),
    ],
)
def test_a_path_that_is_not_a_node_is_refused(path: str, words: str) -> None:
    with pytest.raises(GraphError, match=words) as raised:
        Graph.from_paths([path])
    assert path in str(raised.value) and raised.value.hint


@pytest.mark.parametrize(
    ("change", "identity"),
    [
        (lambda paths: [*paths, "conversations.pipeline.nodes.ghost.Ghost"], "conversations.E001"),
        (lambda paths: [*paths, paths[0]], "conversations.E001"),
        (lambda paths: [path for path in paths if "load_history" not in path], "conversations.E001"),
        (lambda paths: [path for path in paths if "fusion" not in path], "conversations.E004"),
    ],
)
def test_the_system_check_stops_a_broken_setting(change: object, identity: str, settings: object) -> None:
    settings.PIPELINES = {"default": change(site_settings.PIPELINES["default"])}  # type: ignore[operator,attr-defined]
    messages = checks()
    assert identity in {message.id for message in messages}
    assert all(message.hint for message in messages)


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"after": "first"}, "`after` is 'first'"),
        ({"after": (FIRST,)}, "`after` contains"),
        ({"after": (When("first", "hits"),)}, "condition of its `after` is 'hits'"),  # type: ignore[arg-type]
        ({"branches": "end"}, "`branches` is 'end'"),
        ({"reads": "question"}, "`reads` is 'question'"),
        ({"writes": {"queries": 1}}, "`writes` is"),
        ({"run": lambda self, state, emit: state}, "`run` is not asynchronous"),
        ({"wanted": FIRST.run}, "`wanted` is asynchronous"),
        ({"on_error": "ignore"}, "`on_error` is 'ignore'"),
        ({"timeout": "5"}, "`timeout` is '5'"),
        ({"timeout": 0}, "`timeout` is 0"),
        ({"step": "3"}, "`step` is '3'"),
    ],
)
def test_a_class_with_a_wrong_declaration_is_refused(
    attributes: dict[str, object], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "Mistaken", type(make_node("mistaken", **attributes)))
    with pytest.raises(GraphError, match=r"node '.*Mistaken' can't be used") as raised:
        Graph.from_paths([f"{HERE}.Mistaken"])
    assert words in str(raised.value) and raised.value.hint


@pytest.mark.parametrize("paths", [None, f"{HERE}.Unwritten", [FIRST], [None]])
def test_a_setting_that_is_not_a_list_of_paths_is_refused(paths: object) -> None:
    with pytest.raises(GraphError, match=r"not a list|not a dotted path") as raised:
        Graph.from_paths(paths)  # type: ignore[arg-type]
    assert raised.value.hint
    with pytest.raises(HookError, match=r"not a list|not a dotted path"):
        load_hooks(paths)  # type: ignore[arg-type]
