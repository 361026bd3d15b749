"""vCPUs by name, against sizes copied from the documentation of their families."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.pools.vm_sizes import vcpus_of

TABLE = """
Basic_A0 1, Standard_A3 4, Standard_A4 8, Standard_A5 2, Standard_A9 16, Standard_A10 8, Standard_A11 16
Standard_A1_v2 1, Standard_A8m_v2 8, Standard_B1ls 1, Standard_B20ms 20, Standard_B2ts_v2 2, Standard_B32as_v2 32
Standard_D1 1, Standard_D4 8, Standard_D14 16, Standard_DS4 8, Standard_DS13 8, Standard_D1_v2 1, Standard_D3_v2 4
Standard_D5_v2 16, Standard_D11_v2 2, Standard_D15_v2 20, Standard_D15i_v2 20, Standard_DS14_v2 16
Standard_D2_v2_Promo 2, Standard_DS11-1_v2 1, Standard_DS14-8_v2 8, Standard_D2_v3 2, Standard_D4s_v5 4
Standard_D96ads_v5 96, Standard_D2ps_v6 2, Standard_DC2s 2, Standard_DC8_v2 8, Standard_DC96ads_cc_v5 96
Standard_E2_v3 2, Standard_E64i_v3 64, Standard_E8-2s_v5 2, Standard_E104i_v5 104, Standard_EC96iads_v5 96
Standard_F1 1, Standard_F16s 16, Standard_F72s_v2 72, Standard_FX48mds 48, Standard_G1 2, Standard_G5 32
Standard_GS4-8 8, Standard_GS5 32, Standard_H16mr 16, Standard_HB60rs 60, Standard_HB120rs_v3 120
Standard_HB120-16rs_v3 16, Standard_HC44rs 44, Standard_HX176rs 176, Standard_L8s_v3 8, Standard_L80as_v3 80
Standard_M8-2ms 2, Standard_M416s_v2 416, Standard_M48s_1_v3 48, Standard_M832ixs_v3 832, Standard_NC6 6
Standard_NC24rs_v3 24, Standard_NC4as_T4_v3 4, Standard_NC96ads_A100_v4 96, Standard_NC40ads_H100_v5 40
Standard_ND96isr_H100_v5 96, Standard_ND40rs_v2 40, Standard_NG8ads_V620_v1 8, Standard_NP40s 40
Standard_M1792ixds_32_v3 1792, Standard_HB368rs_v5 368, Standard_NV6ads_A10_v5 6, Standard_NV48s_v3 48
"""
KNOWN = [
    (name, int(number)) for name, number in (entry.split() for entry in TABLE.replace("\n", ",").split(",") if entry)
]


@pytest.mark.parametrize(("size", "vcpus"), KNOWN)
def test_a_size_has_the_vcpus_that_its_page_says(size: str, vcpus: int) -> None:
    assert vcpus_of(size) == vcpus
    assert vcpus_of(size.lower()) == vcpus


@pytest.mark.parametrize(
    "size",
    [
        "", "d4s_v5", "Standard_", "Standard_D4s_v5 ", "Standard_D", "Standard_D7", "Standard_D6_v2", "Standard_A12",
        "Standard_G6", "Standard_Z8s_v9", "Standard_D0s_v5", "Standard_E8-16s_v5", "Standard_E8-0s_v5", "small",
        "Standard_D\N{FULLWIDTH DIGIT FOUR}s_v5", "Standard_D4s_v5/../x",
        "Standard_D7s_v5", "Standard_D1000s_v9", "Standard_M4096s_v9",
    ],
)  # fmt: skip
def test_a_size_whose_name_does_not_say_is_unknown(size: str) -> None:
    assert vcpus_of(size) is None


@given(st.text(max_size=30) | st.from_regex(r"standard_[a-z]{1,3}\d{1,4}(-\d{1,3})?[a-z]{0,3}(_v\d)?", fullmatch=True))
def test_any_name_gives_a_positive_number_or_none(size: str) -> None:
    found = vcpus_of(size)
    assert found is None or 0 < found <= 2048
