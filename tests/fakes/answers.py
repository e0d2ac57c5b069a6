"""Automatic answers of the fake provider, which quote the numbered evidence of the prompt."""

import hashlib
import json
import math
import re
from typing import Any

_PASSAGE = re.compile(r"<passage number=\"(\d{1,3})\"(?:\"[^\"]*\"|[^\">])*>(.*?)</passage>", re.DOTALL)
_NUMBERED = re.compile(r"^\W{0,3}\[(\d{1,3})\]\s*(.*?)(?=^\W{0,3}\[\d{1,3}\]|\Z)", re.MULTILINE | re.DOTALL)
_QUESTION = re.compile(r"(?:Question|问题|Message|消息|Request|要求)\s*[:：]\s*(.+)\s*\Z", re.DOTALL)
_GREETING = re.compile(r"\W*(hi|hello|thanks|thank you|who are you|你好|谢谢|你是谁)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?:[^.!?。！？\n]|[.!?](?=\S)){12,}[.!?。！？]?")


def automatic(body: dict[str, Any]) -> tuple[str, str]:
    """Return (thinking, answer) for a request.

    The answer quotes, of up to three passages, the sentence that shares most with the question, each with its
    marker; without passages it repeats the question. Asked for scores, it gives each passage the share of the
    question's terms that it holds, out of 10; asked what a message wants, it says chat for a greeting and else to
    search; asked to rewrite, it repeats; asked for notes, it gives each passage's first sentence; asked for the parts
    of a question, it parts it at its question marks, and misses nothing; asked whether a passage answers, it says so
    where they share a term.
    """
    given, question = _prompt(body)
    evidence = _PASSAGE.findall(given) or _NUMBERED.findall(given)
    match purpose(body):
        case "understand":
            return "", _plan(question)
        case "rewrite":
            return "", question
        case "filter":
            return "", _verdict(evidence, question)
        case "title":
            return "", " ".join(question.rstrip("?？").split()[:6])
        case "notes":
            return "", _notes(evidence)
        case "split":
            parts = [part.strip() for part in re.findall(r"[^?？]+[?？]", question)]
            return "", json.dumps({"parts": parts if len(parts) > 1 else []}, ensure_ascii=False)
        case "missing":
            return "", '{"missing": []}'
    if _wants_scores(body):
        return "", _scores(evidence, question)
    quotes = sorted(((*_best(text, question), number) for number, text in evidence), key=lambda quote: -quote[0])[:3]
    lines = [f"- {sentence} [{number}]" for _, sentence, number in quotes if sentence]
    thinking = f"The question is {question[:80]!r}. There are {len(evidence)} numbered passages."
    if not lines:
        return thinking, f"You said: {question}"
    return thinking, "The sources say:\n\n" + "\n".join(lines)


def manner(body: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a `Script` that a question asks for: "slow", "fail in the middle", "fail at once".

    This allows trying failures by hand.
    """
    question = _prompt(body)[1].lower()
    if "fail at once" in question:
        return {"status": 401, "body": b'{"error": {"message": "Incorrect API key provided."}}'}
    if "fail in the middle" in question:
        thinking, answer = automatic(body)
        return {"cut_after": len(cut(thinking, 1)) + len(cut(answer, 1)) // 2}
    return {"delay": 0.15} if re.search(r"\bslow\b", question) else {}


def purpose(body: dict[str, Any]) -> str:
    """Return the purpose of a request (`understand`, `split`, `filter`, …)."""
    system = next((str(item["content"]) for item in body.get("messages", []) if item.get("role") == "system"), "")
    marks = {
        "understand": ('"kb_retrieval"',),
        "filter": ('"key_passage"',),
        "rewrite": ("Rewrite the user", "改写成"),
        "title": ("a title of at most", "的标题"),
        "split": ("You take questions apart", "你把问题拆开"),
        "missing": ("what has to be searched for once more", "说明还需要再检索什么"),
        "notes": ("You read one part of a longer", "你在阅读一份较长文档"),
    }
    return next((name for name, words in marks.items() if any(word in system for word in words)), "")


def _plan(question: str) -> str:
    chat = bool(_GREETING.match(question))
    plan = {
        "intent": "chat" if chat else "kb_retrieval",
        "confidence": 0.9,
        "queries": [] if chat else sorted(_terms(question))[:5],
        "rewrite": question,
        "followup": False,
        "plan": {"action": "answer_chat" if chat else "retrieve_vector", "args": {"k": 6}},
    }
    return json.dumps(plan, ensure_ascii=False)


def _verdict(evidence: list[tuple[str, str]], question: str) -> str:
    count, sentence = _best(evidence[0][1], question) if evidence else (0, "")
    return json.dumps({"keep": count > 0, "key_passage": sentence, "reason": f"{count} terms"}, ensure_ascii=False)


def _notes(evidence: list[tuple[str, str]]) -> str:
    lines = ((number, _SENTENCE.search(re.sub(r"(?m)^#+ .*$", "", text))) for number, text in evidence)
    return "\n".join(f"- {' '.join(first.group().split())} [{number}]" for number, first in lines if first) or "NONE"


def _wants_scores(body: dict[str, Any]) -> bool:
    return any(
        message.get("role") == "system" and '"score"' in str(message["content"]) for message in body.get("messages", [])
    )


def _scores(evidence: list[tuple[str, str]], question: str) -> str:
    asked = _terms(question)
    shares = ((number, len(asked & _terms(text)) / (len(asked) or 1)) for number, text in evidence)
    return json.dumps([{"index": int(number), "score": round(10 * share)} for number, share in shares])


def _prompt(body: dict[str, Any]) -> tuple[str, str]:
    """Return (the text before the question, the question) of a request's last user message."""
    messages = body.get("messages") or [{"role": "user", "content": str(body.get("prompt", ""))}]
    prompt = next((str(message["content"]) for message in reversed(messages) if message.get("role") == "user"), "")
    asked = _QUESTION.search(prompt)
    if asked:
        return prompt[: asked.start()], asked.group(1).strip()
    return prompt, prompt[-200:].strip()


def vector(text: str, dimension: int = 32) -> list[float]:
    """Return a unit vector that depends only on the text's words."""
    numbers = [0.0] * dimension
    for word in text.lower().split() or [""]:
        numbers[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4]) % dimension] += 1.0
    length = math.sqrt(sum(number * number for number in numbers))
    return [number / length for number in numbers]


def cut(text: str, tokens_per_chunk: int) -> list[str]:
    """Split a text into chunks of so many "tokens": words with their space, or single Chinese characters."""
    tokens = re.findall(r"[一-鿿]|[^\s一-鿿]+\s*|\s+", text)
    return ["".join(tokens[start : start + tokens_per_chunk]) for start in range(0, len(tokens), tokens_per_chunk)]


def _best(text: str, question: str) -> tuple[int, str]:
    """Return the sentence that shares the most terms with the question, and their number."""
    asked = _terms(question)
    sentences = [" ".join(match.group().split()) for match in _SENTENCE.finditer(text)]
    return max(
        ((len(asked & _terms(sentence)), sentence) for sentence in sentences), default=(0, ""), key=lambda s: s[0]
    )


def _terms(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9-]{3,}|[一-鿿]", text.lower()))
