#!/bin/sh
exec "$(dirname -- "$0")/../run.sh" tracknet-deadline/deadline.yaml static-inference
