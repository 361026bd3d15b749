"""`prove agent`: node agents lose nothing but the last flush interval of one that is killed.

`__main__` is the command, `rig` everything that runs. `nodes` starts and disrupts agents, `storage` is a faulty
storage, `judging` compares units and blobs without I/O. Each of these imports only the packages named after it. `feed`
runs the app on what agents wrote.
"""
