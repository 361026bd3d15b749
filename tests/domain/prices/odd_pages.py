"""Pages of the retail list with oddities, in the documented shape, and the one price of a node, or why there is none.

`USUAL` are the rows of a size in a region as the real list has them. A page is these or none of them, with changes of
the plain Linux row and with rows beside it; prices are made up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from shared.domain.prices.price_keys import MeterKey

type Row = dict[str, Any]
NOW = "2026-11-29T12:00:00Z"
LINUX, WINDOWS = MeterKey("linux", "dedicated"), MeterKey("windows", "dedicated")
SPOT, WINDOWS_SPOT = MeterKey("linux", "spot"), MeterKey("windows", "spot")
PRODUCT, SKU = "Virtual Machines Dsv5 Series", "D4s v5"


def row(price: Any = 0.2, *, without: Sequence[str] = (), **changes: Any) -> Row:
    """Returns the plain Linux row with changes, by names of the API."""
    whole = {
        "currencyCode": "USD", "tierMinimumUnits": 0.0, "retailPrice": price, "unitPrice": price,
        "armRegionName": "westeurope", "location": "EU West", "effectiveStartDate": "2025-04-01T00:00:00Z",
        "meterId": "m1", "meterName": SKU, "productId": "DZH318Z0BQNH", "skuId": "DZH318Z0BQNH/02FV",
        "productName": PRODUCT, "skuName": SKU, "serviceName": "Virtual Machines", "serviceId": "DZH313Z7MMC8",
        "serviceFamily": "Compute", "unitOfMeasure": "1 Hour", "type": "Consumption", "isPrimaryMeterRegion": True,
        "armSkuName": "Standard_D4s_v5",
    }  # fmt: skip
    return {name: value for name, value in {**whole, **changes}.items() if name not in without}


def named(suffix: str, meter: str, price: Any, *, windows: bool = False, **changes: Any) -> Row:
    """Returns a row whose SKU and meter have a suffix."""
    names = {"skuName": SKU + suffix, "meterName": SKU + suffix, "meterId": meter}
    return row(price, productName=PRODUCT + (" Windows" if windows else ""), **(names | changes))


BESIDE = (
    named(" Spot", "m2", 0.05),
    named(" Low Priority", "m3", 0.04),
    named("", "m4", 0.38, windows=True),
    named(" Spot", "m5", 0.09, windows=True),
    named(" Low Priority", "m6", 0.08, windows=True),
    named("", "m4", 0.2, windows=True, type="DevTestConsumption"),
    named("", "m7", 1085.0, type="Reservation", reservationTerm="1 Year"),
    named("", "m8", 2152.0, type="Reservation", reservationTerm="3 Years"),
)
USUAL = (row(), *BESIDE)


@dataclass(frozen=True, slots=True)
class OddPageCase:
    """A page's rows, and what is expected for a meter: a price as text, or a reason.

    `differs` says why the second opinion, which takes well-formed rows of one size, has no say or another one.
    """

    name: str
    rows: Sequence[Any]
    expected: str
    meter: MeterKey = LINUX
    differs: str = ""
    vm_size: str = "standard_d4s_v5"
    region: str = "westeurope"
    options: Mapping[str, str] = field(default_factory=dict)


OTHER_SHAPE, OTHER_RULE = "rows of another shape", "rules that it lacks"
CASES = (
    OddPageCase("usual rows, Linux", USUAL, "0.2"),
    OddPageCase("usual rows, Windows", USUAL, "0.38", WINDOWS),
    OddPageCase("usual rows, spot", USUAL, "0.05", SPOT),
    OddPageCase("usual rows, Windows spot", USUAL, "0.09", WINDOWS_SPOT),
    OddPageCase("usual rows backwards", USUAL[::-1], "0.2"),
    OddPageCase("no rows", (), "notListed"),
    OddPageCase("only reservations", BESIDE[6:], "noMeter"),
    OddPageCase("only the licence-free rate of Windows", BESIDE[5:6], "noMeter", WINDOWS),
    OddPageCase("only low priority", (BESIDE[1],), "noMeter", SPOT),
    OddPageCase("only low priority, dedicated", (BESIDE[1],), "noMeter"),
    OddPageCase("only spot, dedicated", (BESIDE[0],), "noMeter"),
    OddPageCase("only dedicated, spot", (row(),), "noMeter", SPOT),
    OddPageCase("only Windows, Linux", (BESIDE[2],), "noMeter"),
    OddPageCase("only Linux, Windows", (row(),), "noMeter", WINDOWS),
    OddPageCase("a cheaper spot price of Windows", (*USUAL, named(" Spot", "m5", 0.01, windows=True,
        effectiveStartDate="2026-01-01T00:00:00Z")), "0.05", SPOT),
    OddPageCase("Cloud Services", (*USUAL, row(0.19, meterId="c", productName=f"{PRODUCT} Cloud Services")), "0.2"),
    OddPageCase("CloudServices", (*USUAL, row(0.19, meterId="c", productName=f"{PRODUCT} CloudServices")), "0.2"),
    OddPageCase("only Cloud Services", (row(productName="Dsv5 Series Cloud Services"),), "noMeter"),
    OddPageCase("Cloud Services in capitals", (row(productName="DSV5 CLOUD SERVICES"),), "noMeter",
        differs=OTHER_RULE),
    OddPageCase("a dedicated host", (*USUAL, row(4, meterId="h", productName="Dsv5 Series Dedicated Host")), "0.2"),
    OddPageCase("only a dedicated host", (row(4, productName="Dsv5 Series Dedicated Host"),), "noMeter"),
    OddPageCase("an expired SKU", (*USUAL, row(0.1, meterId="e", skuName=f"{SKU} Expired",
        effectiveStartDate="2026-01-01T00:00:00Z")), "0.2"),
    OddPageCase("an expired meter", (*USUAL, row(0.1, meterId="e", meterName=f"{SKU} Expired")), "0.2"),
    OddPageCase("an expired product", (*USUAL, row(0.1, meterId="e", productName=f"{PRODUCT} Expired")), "0.2"),
    OddPageCase("only an expired SKU", (row(skuName=f"{SKU} Expired"),), "noMeter"),
    OddPageCase("a row that ended", (*USUAL, row(0.1, meterId="e", effectiveEndDate="2026-01-01T00:00:00Z")), "0.2"),
    OddPageCase("only a row that ended", (row(effectiveEndDate="2026-01-01T00:00:00Z"),), "ended"),
    OddPageCase("a row that ends now", (row(effectiveEndDate=NOW),), "ended"),
    OddPageCase("a row that ends later", (row(effectiveEndDate="2026-12-01T00:00:00Z"),), "0.2"),
    OddPageCase("an end of null", (row(effectiveEndDate=None),), "0.2", differs=OTHER_SHAPE),
    OddPageCase("a newer row of the meter that ended", (row(), row(0.1, effectiveStartDate="2026-01-01T00:00:00Z",
        effectiveEndDate="2026-02-01T00:00:00Z")), "0.2"),
    OddPageCase("an earlier row of the meter", (row(0.3, effectiveStartDate="2020-01-01T00:00:00Z"), *USUAL), "0.2"),
    OddPageCase("a later row of the meter", (*USUAL, row(0.21, effectiveStartDate="2026-11-01T00:00:00Z")), "0.21"),
    OddPageCase("a row that begins now", (*USUAL, row(0.21, effectiveStartDate=NOW)), "0.21"),
    OddPageCase("a row that begins in a second", (*USUAL, row(0.21, effectiveStartDate="2026-11-29T12:00:01Z")), "0.2"),
    OddPageCase("only a row of next year", (row(effectiveStartDate="2027-01-01T00:00:00Z"),), "notBegun"),
    OddPageCase("a later price of 0", (*USUAL, row(0, effectiveStartDate="2026-01-01T00:00:00Z")), "0.2"),
    OddPageCase("only a price of 0", (row(0),), "noPositivePrice"),
    OddPageCase("a later negative price", (*USUAL, row(-0.1, effectiveStartDate="2026-01-01T00:00:00Z")), "0.2"),
    OddPageCase("only a negative price", (row(-0.2),), "noPositivePrice"),
    OddPageCase("a negative price of another meter", (*USUAL, row(-5, meterId="n")), "0.2"),
    OddPageCase("0 and negative", (row(0), row(-1, meterId="n")), "noPositivePrice"),
    OddPageCase("a tier", (*USUAL, row(0.17, meterId="t", tierMinimumUnits=730.0)), "0.2"),
    OddPageCase("a tier of the same meter", (*USUAL, row(0.17, tierMinimumUnits=730.0)), "0.2"),
    OddPageCase("only a tier", (row(0.17, tierMinimumUnits=730.0),), "noMeter"),
    OddPageCase("two primary meters", (row(), row(0.3, meterId="x")), "severalMeters"),
    OddPageCase("two primary meters of one price", (row(), row(meterId="x")), "0.2", differs=OTHER_RULE),
    OddPageCase("two meters, one primary", (row(), row(0.3, meterId="x", isPrimaryMeterRegion=False)), "0.2"),
    OddPageCase("only a secondary meter", (row(isPrimaryMeterRegion=False),), "0.2"),
    OddPageCase("two secondary meters", (row(isPrimaryMeterRegion=False), row(0.3, meterId="x",
        isPrimaryMeterRegion=False)), "severalMeters"),
    OddPageCase("a secondary meter of later start", (row(), row(0.3, meterId="x", isPrimaryMeterRegion=False,
        effectiveStartDate="2026-01-01T00:00:00Z")), "0.2", differs="it takes the newest of all meters"),
    OddPageCase("a row twice", (row(), row()), "0.2", differs=OTHER_RULE),
    OddPageCase("one meter and start, two prices", (row(), row(0.3)), "severalMeters"),
    OddPageCase("a reservation without a term", (*USUAL, row(0.01, meterId="r", type="Reservation")), "0.2"),
    OddPageCase("a savings plan", (row(savingsPlan=[{"unitPrice": 0.1, "retailPrice": 0.1, "term": "1 Year"}]),),
        "0.2"),
    OddPageCase("a unit price below the retail price", (row(unitPrice=0.15),), "0.2"),
    OddPageCase("another currency", (row(currencyCode="EUR"),), "otherCurrency", differs=OTHER_RULE),
    OddPageCase("two currencies", (row(0.9, currencyCode="JPY"), row(meterId="x")), "0.2", differs=OTHER_RULE),
    OddPageCase("a price in another asked currency", (row(0.18, currencyCode="EUR"),), "0.18",
        options={"currency": "EUR"}),
    OddPageCase("another unit", (row(unitOfMeasure="1/Month"),), "otherUnit", differs=OTHER_RULE),
    OddPageCase("a unit of ten hours", (row(2, meterId="x", unitOfMeasure="10 Hours"), row()), "0.2",
        differs=OTHER_RULE),
    OddPageCase("another service", (row(serviceName="Azure Batch"),), "noMeter", differs=OTHER_RULE),
    OddPageCase("another region", (row(armRegionName="northeurope"),), "notListed", differs=OTHER_RULE),
    OddPageCase("another size", (row(armSkuName="Standard_D8s_v5"),), "notListed", differs=OTHER_RULE),
    OddPageCase("a size that begins alike", (row(9, armSkuName="Standard_D4s_v5_Promo", meterId="p"), row()), "0.2",
        differs=OTHER_RULE),
    OddPageCase("a size and region in capitals", (row(armSkuName="STANDARD_D4S_V5", armRegionName="WestEurope"),),
        "0.2"),
    OddPageCase("spot by its meter only", (row(0.05, meterName=f"{SKU} Spot"), row(meterId="x")), "0.2",
        differs=OTHER_RULE),
    OddPageCase("low priority by its meter only", (row(0.04, meterName=f"{SKU} Low Priority"),), "noMeter",
        differs=OTHER_RULE),
    OddPageCase("two names of sizes", (row(skuName="D4 v5/D4s v5"), named(" Spot", "m2", 0.05)), "0.2"),
    OddPageCase("two names of sizes, spot", (row(), row(0.05, meterId="m2", skuName="D4 v5/D4s v5 Spot",
        meterName="D4 v5/D4s v5 Spot")), "0.05", SPOT),
    OddPageCase("Windows within the product's name", (row(productName="Virtual Machines Windows Dsv5 Series"),), "0.2"),
    OddPageCase("a price as text", (row("0.1x", meterId="x"), *USUAL), "0.2", differs=OTHER_SHAPE),
    OddPageCase("only a price as text", (row("cheap"),), "unreadable", differs=OTHER_SHAPE),
    OddPageCase("a price of NaN as text", (row("NaN", meterId="x"), *USUAL), "0.2", differs=OTHER_SHAPE),
    OddPageCase("a price without end", (row("Infinity"),), "unreadable", differs=OTHER_SHAPE),
    OddPageCase("a price of null", (row(None),), "unreadable", differs=OTHER_SHAPE),
    OddPageCase("a price too high to be one", (row(1e12, meterId="x"), *USUAL), "0.2", differs=OTHER_SHAPE),
    OddPageCase("no price", (row(without=["retailPrice"]),), "unreadable", differs=OTHER_SHAPE),
    OddPageCase("no start", (row(without=["effectiveStartDate"], meterId="x"), *USUAL), "0.2", differs=OTHER_SHAPE),
    OddPageCase("a start without a zone", (row(effectiveStartDate="2025-04-01T00:00:00"),), "unreadable",
        differs=OTHER_SHAPE),
    OddPageCase("no SKU", (row(0.1, without=["skuName"], meterId="x"), *USUAL), "0.2", differs=OTHER_SHAPE),
    OddPageCase("no meter name", (row(without=["meterName"]),), "0.2", differs=OTHER_SHAPE),
    OddPageCase("no mark of primary meters", (row(without=["isPrimaryMeterRegion"]),), "0.2"),
    OddPageCase("a row of null", (None, *USUAL), "0.2", differs=OTHER_SHAPE),
    OddPageCase("rows that are none", (7, "row", [], {}, *USUAL), "0.2", differs=OTHER_SHAPE),
    OddPageCase("only rows that are none", (7, {}), "unreadable", differs=OTHER_SHAPE),
    OddPageCase("fields of later versions", (row(futureField={"a": [1]}, reservationTerm=None),), "0.2"),
    OddPageCase("a very small price", (row(0.000001),), "0.000001"),
    OddPageCase("a price of a whole number", (row(3),), "3"),
)  # fmt: skip
