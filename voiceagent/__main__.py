"""`python -m voiceagent`: the same as the command `voiceagent`."""

from voiceagent.cli.main import main

main()
