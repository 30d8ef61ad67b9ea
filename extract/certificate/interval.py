"""Boxes of vectors, and bounds on what torch may compute from them, its rounding errors included.

A bound here holds for the numbers that a network's own floating-point arithmetic gives, not only for the exact ones.
A sum of n products, in whatever order and with or without fused operations, is off by at most n u / (1 - n u) times the
sum of their sizes (Higham 2002, section 3.1), u being half the distance from 1 to the next number; our own bounds are
such sums in float64. Each of them is moved outward by `_SAFETY` times that. Sigmoids and tanh of torch and numpy are
taken to be right to `_CURVE` u, which is more than their authors allow them (1 to 4 units in the last place).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

__all__ = ["Affine", "Arithmetic", "Box", "Row", "plus", "sigmoid", "tanh", "times"]

Row = np.ndarray  # (M,) or (M, D) float64

_SAFETY = 4.0  # once for the network, once for ourselves, and twice for the terms of second order
_CURVE = 32.0


@dataclass(frozen=True)
class Arithmetic:
    """The floating-point numbers that a network computes with.

    Attributes:
        unit: half the distance from 1 to the next number, u.
        least: what a product may lose by underflow.
    """

    unit: float
    least: float

    @classmethod
    def of(cls, dtype: torch.dtype) -> Arithmetic:
        """Return that of ``dtype``, but never finer than the float64 of the bounds themselves."""
        info = torch.finfo(dtype)
        return cls(max(float(info.eps), float(np.finfo(np.float64).eps)) / 2, float(info.tiny))

    @property
    def curve(self) -> float:
        """Return how far a computed sigmoid or tanh may be from the exact one."""
        return _CURVE * self.unit

    def slack(self, sizes: Row, terms: int) -> Row:
        """Return how far sums of ``terms`` products may be off, whose sizes sum to ``sizes``."""
        spread: Row = _SAFETY * ((terms + 4) * self.unit * sizes + terms * self.least)
        return spread


@dataclass(frozen=True, eq=False)
class Box:
    """M boxes of vectors, from ``low`` to ``high``, (M, D) float64 each.

    >>> Box(np.array([[0.0, 1.0]]), np.array([[0.5, 1.0]])).widths
    array([[0.5, 0. ]])
    """

    low: Row
    high: Row

    @classmethod
    def point(cls, values: Row) -> Box:
        """Return boxes of one point each."""
        return cls(values, values)

    @classmethod
    def beside(cls, boxes: list[Box]) -> Box:
        """Return boxes of the vectors that stand one after the other, (M, D1 + D2 + ...)."""
        return cls(np.concatenate([box.low for box in boxes], -1), np.concatenate([box.high for box in boxes], -1))

    @cached_property
    def sizes(self) -> Row:
        """Return the largest size of each number, (M, D)."""
        sizes: Row = np.maximum(np.abs(self.low), np.abs(self.high))
        return sizes

    @property
    def widths(self) -> Row:
        """Return how wide they are, (M, D)."""
        widths: Row = self.high - self.low
        return widths

    def columns(self, begin: int, end: int | None = None) -> Box:
        """Return the boxes of some of the numbers."""
        return Box(self.low[:, begin:end], self.high[:, begin:end])

    def wider(self, by: Row | float, low: float = -np.inf, high: float = np.inf) -> Box:
        """Return the boxes, wider by so much on every side, but between ``low`` and ``high``."""
        return Box(np.maximum(self.low - by, low), np.minimum(self.high + by, high))


@dataclass(frozen=True, eq=False)
class Affine:
    """A layer W x + b, with what its rounding errors depend on.

    Attributes:
        weights: W, (O, I).
        bias: b, (O,).
        sizes: the sum of the sizes of the products that make up each weight, (O, I); |W| unless W is a product itself.
        bias_sizes: the same for the bias, (O,).
        terms: how many products a number is the sum of.
    """

    weights: Row
    bias: Row
    sizes: Row
    bias_sizes: Row
    terms: int

    @classmethod
    def of(cls, weights: Row, bias: Row | None = None) -> Affine:
        """Return the layer of ``weights`` (O, I) and ``bias`` (O,), which is 0 where there is none."""
        there = np.zeros(len(weights)) if bias is None else bias
        return cls(weights, there, np.abs(weights), np.abs(there), weights.shape[1] + 1)

    @classmethod
    def beside(cls, layers: list[Affine]) -> Affine:
        """Return the sum of layers on inputs that stand one after the other: W1 x1 + b1 + W2 x2 + b2 + ..."""
        return cls(
            np.concatenate([layer.weights for layer in layers], 1),
            np.sum([layer.bias for layer in layers], axis=0),
            np.concatenate([layer.sizes for layer in layers], 1),
            np.sum([layer.bias_sizes for layer in layers], axis=0),
            sum(layer.terms for layer in layers),
        )

    def after(self, first: Affine) -> Affine:
        """Return this layer on what ``first`` gives."""
        return Affine(
            self.weights @ first.weights,
            self.weights @ first.bias + self.bias,
            self.sizes @ first.sizes,
            self.sizes @ first.bias_sizes + self.bias_sizes,
            self.terms + first.terms,
        )

    def rows(self, index: Row | slice) -> Affine:
        """Return the layer of some of the outputs."""
        return Affine(self.weights[index], self.bias[index], self.sizes[index], self.bias_sizes[index], self.terms)

    def minus(self, index: int) -> Affine:
        """Return the layer of each output less output ``index``."""
        return Affine(
            self.weights - self.weights[index],
            self.bias - self.bias[index],
            self.sizes + self.sizes[index],
            self.bias_sizes + self.bias_sizes[index],
            2 * self.terms,
        )

    def of_box(self, box: Box, arithmetic: Arithmetic) -> Box:
        """Return bounds on what the layer computes from vectors of ``box`` (M, I), (M, O)."""
        up, down = np.maximum(self.weights, 0).T, np.minimum(self.weights, 0).T
        low = box.low @ up + box.high @ down + self.bias
        high = box.high @ up + box.low @ down + self.bias
        return Box(low, high).wider(arithmetic.slack(box.sizes @ self.sizes.T + self.bias_sizes, self.terms))


def sigmoid(box: Box, arithmetic: Arithmetic) -> Box:
    """Return bounds on the sigmoid, between 0 and 1."""
    exact = Box((1 + np.tanh(box.low / 2)) / 2, (1 + np.tanh(box.high / 2)) / 2)
    return exact.wider(arithmetic.curve, 0.0, 1.0)


def tanh(box: Box, arithmetic: Arithmetic) -> Box:
    """Return bounds on tanh, between -1 and 1."""
    return Box(np.tanh(box.low), np.tanh(box.high)).wider(arithmetic.curve, -1.0, 1.0)


def times(a: Box, b: Box, arithmetic: Arithmetic) -> Box:
    """Return bounds on the product, number by number."""
    corners = np.stack([a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high])
    return Box(corners.min(0), corners.max(0)).wider(arithmetic.slack(a.sizes * b.sizes, 1))


def plus(a: Box, b: Box, arithmetic: Arithmetic) -> Box:
    """Return bounds on the sum, number by number."""
    return Box(a.low + b.low, a.high + b.high).wider(arithmetic.slack(a.sizes + b.sizes, 1))
