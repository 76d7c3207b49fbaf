"""What tests of the airline share."""

import pytest
from booking_rows import SIZES

from tool_envs.booking.data import booking_base


@pytest.fixture(params=SIZES.values(), ids=SIZES)
def base(request):
    """Airlines of several sizes."""
    return booking_base(*request.param)
