"""Explanations and advice for a pool that didn't get its nodes, by the code of the resize error.

Sources: PoolResizeErrorCodes of Microsoft.Azure.Batch.Common, and "Azure Batch pool resizing failure" of the
troubleshooting guide. The guide swaps the explanations of the quotas of spot cores and of VM series; the codes' own
names are followed here.
"""

_QUOTA = "Ask for a higher quota (the Batch account's page Quotas), make other pools smaller, or take smaller nodes."
_SCARCE = "Try again later, or take another VM size or region; Azure has no such nodes to give there now."
_BY_CODE = {
    "accountcorequotareached": ("The account has no dedicated cores left.", _QUOTA),
    "accountlowprioritycorequotareached": ("The account has no spot (low-priority) cores left.", _QUOTA),
    "accountspotcorequotareached": ("The account has no spot cores left.", _QUOTA),
    "accountvmseriescorequotareached": ("The account has no cores of this VM series left.", _QUOTA),
    "allocationfailed": ("Azure couldn't allocate the nodes.", f"The message says more. {_SCARCE}"),
    "allocationtimedout": (
        "The nodes didn't come before the resize timed out.",
        f"{_SCARCE} Give the resize a longer timeout where it is short. It isn't tried again by itself.",
    ),
    "communicationenabledpoolreachedmaxvmcount": (
        "A pool whose nodes talk to each other can't have that many.",
        "Ask for fewer nodes, or switch communication between nodes off in a new pool.",
    ),
    "dependentresourcenotfound": (
        "A resource that the pool names isn't there.",
        "See whether its image, network, identity or disk encryption set was deleted or renamed.",
    ),
    "diskencryptionfailure": (
        "The disks of the nodes couldn't be encrypted.",
        "See the disk encryption settings of the pool and the access to their key.",
    ),
    "failedidentityoperation": (
        "The identity of the pool couldn't be used.",
        "See that the user-assigned identity is there and that Batch may assign it.",
    ),
    "incompatiblevmsize": (
        "The VM size doesn't go with the pool's configuration.",
        "Make the pool anew with a size that its image and disks allow.",
    ),
    "resizestopped": (
        "The resize was stopped before all nodes were there.",
        "Resize the pool again; a resize that was stopped isn't taken up by itself.",
    ),
    "unsupportedvmsize": ("The VM size can't be had in this region.", "Make the pool anew with another VM size."),
}  # fmt: skip
_OTHER = ("The last resize didn't give the pool all of its nodes.", "The message says why; resize the pool again.")


_RESIZED_AGAIN = (
    "The pool's formula sets the targets again at its next evaluation; see that it asks for no more than can be had."
)
_WITH_FORMULA = {"allocationtimedout": f"{_SCARCE} {_RESIZED_AGAIN}", "resizestopped": _RESIZED_AGAIN}


def resize_words(code: str, *, scales: bool = False) -> tuple[str, str]:
    """Returns the meaning of a resize error, and advice; the service writes codes in any case (`AllocationTimedout`).

    `scales`: the pool has a formula, so it can't be resized manually.
    """
    means, advice = _BY_CODE.get(code.lower(), _OTHER)
    if not scales:
        return means, advice
    unknown = f"The message says why. {_RESIZED_AGAIN}" if code.lower() not in _BY_CODE else advice
    return means, _WITH_FORMULA.get(code.lower(), unknown)
