"""The parts of `examples/train_tiny_agent.py`: text, model, sampling, policy, losses."""
