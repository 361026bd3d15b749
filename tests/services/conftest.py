from tests.domain.profiles import load_profile

load_profile()
