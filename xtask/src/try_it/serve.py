# Serves one model on loopback until its standard input ends, which it does when the program that started it is gone.
import os
import sys
import threading

weights, threads = sys.argv[1], int(sys.argv[2])


def leave_with_parent():
    sys.stdin.buffer.read()
    os._exit(0)


threading.Thread(target=leave_with_parent, daemon=True).start()

import xllamacpp

settings = xllamacpp.CommonParams()
settings.model.path = weights
settings.hostnames = ["127.0.0.1"]
settings.port = 0
settings.n_ctx = 8192
settings.n_parallel = 1
# A minute of talk at the most: some answers would not end by themselves.
settings.n_predict = 250
settings.cpuparams.n_threads = threads
settings.warmup = False
settings.use_jinja = True
# Without these a model of this size says one sentence over and over.
settings.sampling.temp = 0.2
settings.sampling.penalty_repeat = 1.1
settings.sampling.penalty_last_n = 256
server = xllamacpp.Server(settings)
print(server.listening_address, flush=True)
threading.Event().wait()
