"""Networks whose memory is no stack, seen as networks on stacks."""
