#!/bin/bash
# A Slurm cluster of its own on one machine, for tests: one slurmctld and nodes n1, n2, ... on
# loopback, with fake GPUs, all state in one directory. Needs root, as several slurmd do, and
# Debian's slurmctld, slurmd, slurm-client and munge.
#
#   slurm_cluster.sh DIRECTORY start [NODES]    prints SLURM_CONF; fails where there can be none
#   slurm_cluster.sh DIRECTORY stop             ends every process of it
#   slurm_cluster.sh DIRECTORY node N kill      slurmd only: its jobs go on
#   slurm_cluster.sh DIRECTORY node N crash     slurmd and all its jobs, as a power cut
#   slurm_cluster.sh DIRECTORY node N start     back again
#   slurm_cluster.sh DIRECTORY ctld kill|start  the controller
#   slurm_cluster.sh DIRECTORY heal             all that was broken works again, no job is left
#   slurm_cluster.sh DIRECTORY resume           drained nodes take jobs again
#   slurm_cluster.sh DIRECTORY jobs             pids of all processes that jobs have left
#
# DIRECTORY is short (below 60 characters): Unix sockets lie in it.
set -euo pipefail
D=$(readlink -f "$1"); shift
CPUS=8 GPUS=2 MEMORY=8192

# Every process started here knows the cluster by its environment.
mark="SLURM_TEST_CLUSTER=$D"
running() { local stat; stat=$(cat "/proc/$1/stat" 2>/dev/null) && [[ ${stat##*) } != [ZX]* ]]; }
until_true() { local end=$((SECONDS + $1)); shift; until "$@"; do ((SECONDS < end)) || return 1; sleep 0.05; done; }

pid_of() {
  local pid
  pid=$(cat "$D/$1.pid" 2>/dev/null) && running "$pid" &&
    grep -qzxF "$mark" "/proc/$pid/environ" 2>/dev/null && echo "$pid"
}

launch() {  # NAME COMMAND...
  local log="$D/$1.out"; shift
  (cd / && exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "SLURM_CONF=$D/slurm.conf" "$mark" \
    setsid "$@" </dev/null >>"$log" 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-)
}

# Processes of jobs: slurmd tells each of them the cluster's name, and its node's.
job_pids() {
  local process
  for process in /proc/[0-9]*; do
    grep -qzxF "SLURM_CLUSTER_NAME=$(cat "$D/name")" "$process/environ" 2>/dev/null || continue
    [[ -z ${1:-} ]] || grep -qzxF "SLURMD_NODENAME=$1" "$process/environ" 2>/dev/null || continue
    ! running "${process##*/}" || echo "${process##*/}"
  done
}

# A slurmstepd wipes its environment, but listens on a socket of its node's.
stepd_pids() {
  local process inodes
  inodes=$(awk -v d="$D/spool/${1:+$1/}" 'index($8, d) == 1 {print $7}' /proc/net/unix)
  [[ -n $inodes ]] || return 0
  for process in /proc/[0-9]*; do
    [[ $(readlink "$process/exe" 2>/dev/null) == *slurmstepd* ]] || continue
    find "$process/fd" -lname 'socket:*' -printf '%l\n' 2>/dev/null | tr -dc '0-9\n' |
      grep -qxF "$inodes" && echo "${process##*/}"
  done
  return 0
}

kill_all() { local pid; for pid in "$@"; do kill -KILL "$pid" 2>/dev/null || :; done; }

free_port() {
  local port
  while port=$((20000 + RANDOM % 10000)); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
}

configure() {
  local nodes=$1 node gpu ports='' base
  mkdir -p "$D/state" "$D/dev"
  echo "doetune$$" >"$D/name"
  (umask 077; head -c 1024 /dev/urandom >"$D/munge.key")
  : >"$D/gres.conf"
  base=$(free_port)
  for node in $(seq "$nodes"); do
    mkdir -p "$D/spool/n$node" "$D/tmp/n$node"
    # Slurm 22.05 counts no GPU without a device, and never opens it without cgroups.
    for gpu in $(seq 0 $((GPUS - 1))); do ln -sfn /dev/null "$D/dev/n$node-gpu$gpu"; done
    echo "NodeName=n$node Name=gpu File=$D/dev/n$node-gpu[0-$((GPUS - 1))]" >>"$D/gres.conf"
    ports+="${ports:+,}$((base + node))"
  done
  printf 'CgroupPlugin=cgroup/v1\nCgroupMountpoint=%s/cgroup\n' "$D" >"$D/cgroup.conf"
  cat >"$D/slurm.conf" <<CONF
ClusterName=$(cat "$D/name")
SlurmctldHost=$(uname -n)(127.0.0.1)
SlurmctldPort=$base
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$D/munge.socket,cred_expire=5
StateSaveLocation=$D/state
SlurmdSpoolDir=$D/spool/%n
SlurmctldPidFile=$D/slurmctld.pid
SlurmdPidFile=$D/slurmd-%n.pid
SlurmctldLogFile=$D/slurmctld.log
SlurmdLogFile=$D/slurmd-%n.log
TmpFS=$D/tmp/%n
MailProg=/bin/true
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
PropagateResourceLimits=NONE
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=100
GresTypes=gpu
SlurmdTimeout=10
ReturnToService=2
KillWait=2
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
MinJobAge=60
AccountingStorageType=accounting_storage/none
NodeName=n[1-$nodes] NodeHostname=$(uname -n) NodeAddr=127.0.0.1 Port=$ports CPUs=$CPUS RealMemory=$MEMORY Gres=gpu:$GPUS
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
}

munge_answers() { munge -S "$D/munge.socket" -n 2>/dev/null | unmunge -S "$D/munge.socket" >/dev/null 2>&1; }
ctld_answers() { SLURM_CONF="$D/slurm.conf" timeout 5 scontrol ping >/dev/null 2>&1; }
all_idle() { ! SLURM_CONF="$D/slurm.conf" sinfo -h -N -o %T 2>/dev/null | grep -qvx idle; }

start_ctld() {
  launch slurmctld slurmctld -f "$D/slurm.conf"
  until_true 120 ctld_answers
}

start_node() {
  launch "slurmd-n$1" slurmd -f "$D/slurm.conf" -N "n$1" -b
  until_true 120 pid_of "slurmd-n$1" >/dev/null
}

start() {
  [[ $EUID == 0 ]] || { echo "needs root" >&2; return 1; }
  configure "$1"
  launch munged munged --force --key-file="$D/munge.key" --socket="$D/munge.socket" \
    --pid-file="$D/munged.pid" --log-file="$D/munged.log" --seed-file="$D/munged.seed"
  until_true 120 munge_answers && start_ctld || return 1
  local node
  for node in $(seq "$1"); do start_node "$node" || return 1; done
  until_true 120 all_idle || return 1
  echo "$D/slurm.conf"
}

heal() {
  local file node
  export SLURM_CONF="$D/slurm.conf"
  pid_of slurmctld >/dev/null || start_ctld
  squeue -h -o %A | xargs -r scancel
  mapfile -t pids < <(job_pids)
  kill_all "${pids[@]}"
  for file in "$D"/spool/*; do
    node=${file##*/n}
    pid_of "slurmd-n$node" >/dev/null || start_node "$node"
  done
  resumed || until_true 120 resumed
}

# A node with a job that two controllers started is drained, until somebody says that it is well.
resumed() {
  local bad
  bad=$(sinfo -h -N -o '%N %T' | awk '$2 ~ /^(down|drain)/ {print $1}' | paste -sd,)
  [[ -z $bad ]] || scontrol update "nodename=$bad" state=resume 2>/dev/null || :
  all_idle
}

stop() {
  local pid file
  for file in "$D"/slurmd-*.pid "$D/slurmctld.pid" "$D/munged.pid"; do
    file=${file##*/}
    if pid=$(pid_of "${file%.pid}"); then kill -KILL "$pid"; fi
  done
  mapfile -t pids < <(stepd_pids; job_pids)
  kill_all "${pids[@]}"
}

kill_daemon() { local pid; pid=$(pid_of "$1") && kill -KILL "$pid" && until_true 5 eval "! running $pid"; }

case "$1 ${2:-}" in
  "start "*) if ! start "${2:-2}"; then stop; exit 1; fi ;;
  "stop ") stop ;;
  "heal ") heal ;;
  "resume ") SLURM_CONF="$D/slurm.conf" resumed || : ;;
  "jobs ") job_pids ;;
  "ctld kill") kill_daemon slurmctld ;;
  "ctld start") start_ctld ;;
  "node "*)
    case $3 in
      kill) kill_daemon "slurmd-n$2" ;;
      start) start_node "$2" ;;
      crash)
        mapfile -t pids < <(stepd_pids "n$2"; job_pids "n$2")
        kill_all "$(pid_of "slurmd-n$2")" "${pids[@]}" ;;
    esac ;;
  *) sed -n '2,/^set/{/^#/p}' "$0" >&2; exit 2 ;;
esac
