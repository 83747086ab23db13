#!/usr/bin/env bash
# Runs a Slurm of one node for tests, with its own munge key, ports, spool and configuration in one folder. It neither
# reads nor changes another Slurm on the machine. Needs root and the packages slurmctld, slurmd, slurm-client and munge.
#   scripts/slurm_testbed.sh start DIR    starts it; DIR must not exist. Then:  source DIR/env  and use sbatch, squeue
#   scripts/slurm_testbed.sh stop DIR     stops it and removes DIR
# Exits 77 with a reason if Slurm cannot run.
set -euo pipefail

cannot() {
  echo "skipped: $*"
  exit 77
}

usage() {
  echo "usage: ${0##*/} start|stop DIR" >&2
  exit 2
}

free_port() {
  python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

write_configuration() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemTotal/ {print int($2 * 3 / 4 / 1024)}' /proc/meminfo)
  cat >"$dir/slurm.conf" <<CONF
ClusterName=testbed
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
SlurmctldParameters=enable_configless
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=2
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MinJobAge=3600
ReturnToService=2
MpiDefault=none
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cores RealMemory=$memory State=UNKNOWN
PartitionName=test Nodes=$host Default=YES MaxTime=60 State=UP OverSubscribe=NO
CONF
}

# Every command of Slurm finds this one.
write_environment() {
  cat >"$dir/env" <<ENV
export SLURM_CONF='$dir/slurm.conf'
ENV
}

wait_for_node() {
  local tries
  for ((tries = 0; tries < 60; ++tries)); do
    if [[ $(sinfo --noheader --format=%T 2>/dev/null) == idle ]]; then return 0; fi
    sleep 0.5
  done
  return 1
}

start() {
  ((EUID == 0)) || cannot "only root can start a Slurm"
  local program
  for program in munged slurmctld slurmd sbatch sinfo; do
    command -v "$program" >/dev/null || cannot "$program is not here (packages slurmctld, slurmd, slurm-client, munge)"
  done
  if [[ -e $dir ]]; then
    echo "${0##*/}: $dir is there already" >&2
    exit 2
  fi
  mkdir -p "$dir"/{state,spool}
  chmod 755 "$dir"
  host=$(hostname -s)
  dd if=/dev/urandom of="$dir/munge.key" bs=128 count=1 status=none
  chmod 400 "$dir/munge.key"
  write_configuration
  write_environment
  # shellcheck source=/dev/null
  source "$dir/env"
  munged --force --key-file="$dir/munge.key" --socket="$dir/munge.socket" --pid-file="$dir/munge.pid" \
    --log-file="$dir/munge.log" --seed-file="$dir/munge.seed" || cannot "munged does not start: $(tail -n 1 "$dir/munge.log")"
  slurmctld -f "$SLURM_CONF" || cannot "slurmctld does not start: $(tail -n 1 "$dir/slurmctld.log")"
  slurmd -f "$SLURM_CONF" -N "$host" || cannot "slurmd does not start: $(tail -n 1 "$dir/slurmd.log")"
  if ! wait_for_node; then
    local why
    why=$(grep -hE 'error|fatal' "$dir/slurmctld.log" "$dir/slurmd.log" | tail -n 3 | tr '\n' ';')
    stop
    cannot "the node does not come up: $why"
  fi
  echo "Slurm runs in $dir: source $dir/env"
}

stop() {
  local name pid
  for name in slurmd slurmctld munge; do
    [[ -f $dir/$name.pid ]] || continue
    pid=$(<"$dir/$name.pid")
    kill "$pid" 2>/dev/null || true
    for ((i = 0; i < 50; ++i)); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
  done
  rm -rf "$dir"
}

(($# == 2)) || usage
dir=$(realpath -m "$2")
case "$1" in
  start) start ;;
  stop) stop ;;
  *) usage ;;
esac
