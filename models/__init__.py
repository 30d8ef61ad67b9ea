"""Networks = controller + stack (torch): one paper a file, training, checkpoints, networks trained by us in zoo/."""
