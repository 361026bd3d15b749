"""The spelling of VM sizes in Azure's lists."""

import pytest

from shared.domain.prices.size_names import arm_name

SIZES = [
    "Basic_A1", "Standard_A8m_v2", "Standard_B1ls", "Standard_B2als_v2", "Standard_D2_v2_Promo", "Standard_D4s_v5",
    "Standard_DC2s_v2", "Standard_DS3_v2", "Standard_E4-2ads_v5", "Standard_E104ids_v5", "Standard_F4s_v2",
    "Standard_FX4mds", "Standard_GS5-16", "Standard_HB120-16rs_v3", "Standard_HB120rs_v3", "Standard_HC44rs",
    "Standard_L8s_v3", "Standard_M416ms_v2", "Standard_NC24ads_A100_v4", "Standard_NC4as_T4_v3",
    "Standard_NC40ads_H100_v5", "Standard_ND96isr_MI300X_v5", "Standard_NG32ads_V620_v1", "Standard_NP10s",
    "Standard_NV36ads_A10_v5",
]  # fmt: skip


@pytest.mark.parametrize("size", SIZES)
def test_a_size_in_any_letters_has_the_usual_spelling(size: str) -> None:
    assert {arm_name(text) for text in (size, size.lower(), size.upper())} == {size}
