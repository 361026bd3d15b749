from tests.domain.support.profiles import load_profile

load_profile()
