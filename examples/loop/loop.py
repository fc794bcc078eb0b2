# The loop of loop.ts in Python. It needs `forkpoint serve --detach`, and the package in sdk/python.
from pathlib import Path

from forkpoint import create_env_manager

task = Path(__file__).parent / "task"
env = create_env_manager(method="ckpt_build")

try:
    env.exec_command("mkdir /task && cd /task")
    for name in ("prepare_data.py", "try_fix_a.py", "try_fix_b.py"):
        env.environment().files.write(f"/task/{name}", (task / name).read_bytes())
    env.exec_command("python3 prepare_data.py")
    env.exec_command("export MODE=debug")

    id = env.snapshot()
    a = env.exec_command("python3 try_fix_a.py").stdout
    env.restore(id)
    b = env.exec_command("python3 try_fix_b.py").stdout

    print("A:", a.strip())
    print("B:", b.strip())
    print("A is better" if int(a.split()[0]) < int(b.split()[0]) else "B is better")
finally:
    env.cleanup()
