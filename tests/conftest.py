"""What holds for all tests."""

import signal

# A runner in the background may have told us to ignore Ctrl-C, and processes that we start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
