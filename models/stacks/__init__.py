"""The stacks, rings and queues that networks write to: immutable, vectorised, differentiable."""
