"""A public library as a domain of customer service, made outside of the project of public pieces only.

The id is `library_desk:library_tests/Library-v0`.
"""

import gymnasium

ENV_ID = "library_desk:library_tests/Library-v0"

gymnasium.register(
    id="library_tests/Library-v0", entry_point="library_desk.env:LibraryEnv", order_enforce=False
)
