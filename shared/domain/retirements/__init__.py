"""What Azure retires, and which pools it concerns: the announcements as read, and their conditions.

Imports `pools`.
"""
