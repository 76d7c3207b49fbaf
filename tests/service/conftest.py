import pytest
from service_domains import SUBJECTS


@pytest.fixture(params=SUBJECTS)
def subject(request):
    """Each domain of customer service in turn."""
    return SUBJECTS[request.param]
