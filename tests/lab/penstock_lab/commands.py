"""Running commands, on the host or inside a namespace of the lab."""

import subprocess

from .settings import LabError


def run(*command, check=True, stdin=None, timeout=60):
    """Runs to the end and returns the CompletedProcess; raises LabError on failure if `check`."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, input=stdin, text=True, capture_output=True, check=False,
                              timeout=timeout)
    except FileNotFoundError:
        raise LabError(f"{words[0]} is not installed; run tests/install_packages.sh") from None
    except subprocess.TimeoutExpired:
        raise LabError(f"no end after {timeout} s: {' '.join(words)}") from None
    if check and done.returncode != 0:
        reason = (done.stderr or done.stdout).strip() or "no message"
        raise LabError(f"exit {done.returncode}: {' '.join(words)}: {reason}")
    return done


def inside(settings, name, *command):
    """The command line that runs `command` in the namespace of `name`."""
    return ["ip", "netns", "exec", settings.namespace(name), *(str(word) for word in command)]


def run_in(settings, name, *command, check=True, timeout=60):
    return run(*inside(settings, name, *command), check=check, timeout=timeout)


def ip_batch(lines, namespace=None):
    """Many `ip` commands for the price of one process."""
    where = ["-n", namespace] if namespace else []
    run("ip", *where, "-batch", "-", stdin="\n".join(lines) + "\n")
