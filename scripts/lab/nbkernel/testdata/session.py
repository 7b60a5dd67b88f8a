"""A session with a kernel, as JupyterLab and VS Code have it: the requests on the
standard input, a line of JSON each, are sent one after the other, and the answers
printed. Their times are seconds.

    session.py KERNEL FOLDER
"""

import json
import sys
import time

from jupyter_client.manager import KernelManager

manager = KernelManager(kernel_name=sys.argv[1])
manager.start_kernel(cwd=sys.argv[2])
client = manager.client()
client.start_channels()
try:
    client.wait_for_ready(timeout=300)
    started = time.time()
    for line in sys.stdin:
        request = json.loads(line)
        code, begin, shown = request["code"], time.time(), []
        if request["kind"] == "execute":
            reply = client.execute_interactive(code, timeout=300, output_hook=lambda m: shown.append(m["content"]))["content"]
        else:
            time.sleep(max(0, request.get("after", 0) - (begin - started)))
            begin = time.time()
            ask = client.complete if request["kind"] == "complete" else client.inspect
            while True:
                sent = ask(code, cursor_pos=len(code))
                while (message := client.get_shell_msg(timeout=60))["parent_header"].get("msg_id") != sent:
                    pass
                reply = message["content"]
                # On a busy machine gopls needs longer than the kernel waits for it.
                if reply.get("matches") or "not connected" not in str(reply) and request["kind"] != "complete" or time.time() - begin > 90:
                    break
                time.sleep(1)
        print(json.dumps({"reply": reply, "shown": shown, "seconds": time.time() - begin}), flush=True)
finally:
    client.stop_channels()
    manager.shutdown_kernel()
