"""Serves a model by llama.cpp: serve_llama_cpp.py MODEL HOST PORT PARALLEL BATCH THREADS"""
import sys
import threading

import xllamacpp

model, host = sys.argv[1:3]
port, parallel, batch, threads = map(int, sys.argv[3:])

params = xllamacpp.CommonParams()
params.model.path = model
params.hostnames = [host]
params.port = port
params.n_parallel = parallel          # answers generated at a time
params.n_ctx = 512 * parallel
params.n_batch = params.n_ubatch = batch  # tokens computed at a time
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
threading.Event().wait()
