"""The efficiency of jobs: answers from the sets of measured runs, the cached tasks, pools and costs."""
