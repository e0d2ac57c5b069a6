"""Answers that the fake provider makes up by itself: they quote the numbered evidence of the prompt."""

import hashlib
import math
import re
from typing import Any

_EVIDENCE = re.compile(r"^\W{0,3}\[(\d{1,3})\]\s*(.*?)(?=^\W{0,3}\[\d{1,3}\]|\Z)", re.MULTILINE | re.DOTALL)
_SENTENCE = re.compile(r"[^.!?。！？\n]{12,}[.!?。！？]")


def automatic(body: dict[str, Any]) -> tuple[str, str]:
    """Return (thinking, answer) for a request: up to three sentences of the evidence, each with its marker."""
    messages = body.get("messages") or [{"role": "user", "content": str(body.get("prompt", ""))}]
    question = next((str(m["content"]) for m in reversed(messages) if m.get("role") == "user"), "")
    evidence = _EVIDENCE.findall("\n\n".join(str(m.get("content", "")) for m in messages))
    lines = [f"{sentence} [{number}]" for number, text in evidence[:3] if (sentence := _first_sentence(text))]
    thinking = f"The request ends with: {question[-80:]!r}. There are {len(evidence)} numbered passages."
    if not lines:
        return thinking, f"You said: {question[-200:].strip()}"
    return thinking, "The sources say:\n\n" + "\n".join(f"- {line}" for line in lines)


def vector(text: str, dimension: int = 32) -> list[float]:
    """Return a unit vector that depends on the text's words alone."""
    numbers = [0.0] * dimension
    for word in text.lower().split() or [""]:
        numbers[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4]) % dimension] += 1.0
    length = math.sqrt(sum(number * number for number in numbers))
    return [number / length for number in numbers]


def cut(text: str, tokens_per_chunk: int) -> list[str]:
    """Cut a text into chunks of so many "tokens": words with their space, or single Chinese characters."""
    tokens = re.findall(r"[一-鿿]|[^\s一-鿿]+\s*|\s+", text)
    return ["".join(tokens[start : start + tokens_per_chunk]) for start in range(0, len(tokens), tokens_per_chunk)]


def _first_sentence(text: str) -> str:
    match = _SENTENCE.search(text)
    return " ".join(match.group().split()) if match else ""
