"""Quantised matrices: blocks of 32 weights in 4 bits (Q4_0), and 8-bit integers with a scale per column."""

import numpy as np
from numpy.typing import NDArray

BLOCK = 32
# A block in a file: its scale, then 16 bytes with weights 0 to 15 in the low and 16 to 31 in the high nibbles.
_STORED = np.dtype([("scale", "<f2"), ("halves", "u1", BLOCK // 2)])
BYTES = _STORED.itemsize


def unpack(data: bytes | memoryview, width: int) -> tuple[NDArray[np.float16], NDArray[np.uint8]]:
    """Return scales [rows, width / 32] and weights of 0-15 [rows, width] of a matrix stored as Q4_0."""
    stored = np.frombuffer(data, _STORED)
    halves = stored["halves"]
    nibbles = np.concatenate([halves & 15, halves >> 4], axis=1)
    return stored["scale"].reshape(-1, width // BLOCK), nibbles.reshape(-1, width)


def pack(scales: NDArray[np.float16], nibbles: NDArray[np.uint8]) -> bytes:
    """Return a matrix in the format that `unpack` reads."""
    stored = np.empty(scales.size, _STORED)
    stored["scale"] = scales.reshape(-1)
    stored["halves"] = halves(nibbles).reshape(-1, BLOCK // 2)
    return stored.tobytes()


def halves(nibbles: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return weights of 0-15 [rows, width] packed as in the file, two per byte: [rows, width / 32, 16]."""
    blocks = nibbles.reshape(len(nibbles), -1, 2, BLOCK // 2)
    return (blocks[:, :, 0] | (blocks[:, :, 1] << 4)).astype(np.uint8, copy=False)


def from_halves(packed: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the weights of 0-15 [rows, width] that `halves` packed."""
    return np.concatenate([packed & 15, packed >> 4], axis=2).reshape(len(packed), -1)


def dequantise(scales: NDArray[np.float16], nibbles: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return the matrix that blocks represent: each weight minus 8, times its block's scale."""
    weights = (nibbles.astype(np.float32) - 8).reshape(len(nibbles), -1, BLOCK)
    return (weights * scales.astype(np.float32)[:, :, None]).reshape(nibbles.shape)


def quantise(matrix: NDArray[np.float32]) -> tuple[NDArray[np.float16], NDArray[np.uint8]]:
    """Return scales and weights of 0-15 for a matrix [rows, width]; a block's largest weight is -8 times its scale."""
    blocks = matrix.reshape(len(matrix), -1, BLOCK)
    at = np.abs(blocks).argmax(axis=2)
    scales = (np.take_along_axis(blocks, at[:, :, None], 2)[:, :, 0] / -8).astype(np.float16)
    divisors = scales.astype(np.float32)[:, :, None]
    steps = np.divide(blocks, divisors, out=np.zeros_like(blocks), where=divisors != 0)
    return scales, np.clip(np.rint(steps) + 8, 0, 15).astype(np.uint8).reshape(matrix.shape)


def int8_columns(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return a matrix [in, out] as integers from -127 to 127, and the scale of each column."""
    scales = np.maximum(np.abs(matrix).max(axis=0), 1e-12) / 127
    return np.clip(np.rint(matrix / scales), -127, 127).astype(np.int8), scales.astype(np.float32)
