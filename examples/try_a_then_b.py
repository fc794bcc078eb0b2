# The loop of an agent, as StateFork's users write it: prepare, export, take a snapshot, try A, restore, try B.
# examples/try-a-then-b.ts is the same in TypeScript, and prints the same. It needs `forkpoint serve --detach`, and
# the package in sdk/python. The first argument says how the environment is made, as JSON:
#   python3 try_a_then_b.py '{"method": "docker_build", "dockerfile_dir": "./task"}'
import json
import sys

from forkpoint import create_env_manager

options = json.loads(sys.argv[1] if len(sys.argv) > 1 else '{"method": "waypoint_build"}')
env = create_env_manager(**options)


def run(command: str) -> str:
    """Runs a command that must succeed; its output, on one line."""
    result = env.exec_command(command)
    if result.exit_code != 0:
        raise RuntimeError(f"{command} ended with {result.exit_code}: {result.stderr}")
    return " ".join(result.stdout.split())


try:
    run("mkdir task && cd task && for n in 5 3 9; do echo $n; done > data")
    run("export MODE=debug; show() { cat data; echo $MODE; }")

    ready = env.snapshot()
    print("A:", run("echo 7 >> data; export MODE=changed; show"))
    env.restore(ready)
    print("B:", run("echo 1 >> data; show"))
finally:
    env.cleanup()

# → A: 5 3 9 7 changed
# → B: 5 3 9 1 debug
