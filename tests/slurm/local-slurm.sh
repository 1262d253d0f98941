#!/usr/bin/env bash
# local-slurm.sh - a private, real Slurm cluster on one machine, without systemd,
# cgroups or any change outside one state directory.
#
#   local-slurm.sh up          start munged, slurmctld, N x slurmd
#   local-slurm.sh down        cancel jobs, stop exactly the processes that `up` started
#   local-slurm.sh status      say what runs; exit 0 only if all do and the nodes answer
#   local-slurm.sh env         print the `export` line a client shell needs
#   local-slurm.sh run CMD...  run CMD in that environment
#   local-slurm.sh clean       remove the state directory (only when down)
#
# Debian/Ubuntu packages: slurm-wlm munge. There is no accounting: clients ask squeue, not sacct.
# Settings (environment): LOCAL_SLURM_DIR (state dir), BASE_PORT (16817),
#   NODES (2), NODE_CPUS (4), NODE_MEM_MB (64000), GPUS (4, on the last node)
# A node may claim more than the machine has: jobs are counted against what it claims.
# A job step above its memory is found by a look every second, and killed.
set -euo pipefail
export LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin

DIR=${LOCAL_SLURM_DIR:-/tmp/local-slurm-$(id -u)}
NODES=${NODES:-2}
NODE_CPUS=${NODE_CPUS:-4}
NODE_MEM_MB=${NODE_MEM_MB:-64000}
GPUS=${GPUS:-4}
BASE_PORT=${BASE_PORT:-16817}
CTLD_PORT=$BASE_PORT NODE_PORT=$((BASE_PORT + 1))
ME=$(id -un)
HOST=$(hostname -s)
ETC=$DIR/etc LOG=$DIR/log RUN=$DIR/run
export SLURM_CONF=$ETC/slurm.conf

say() { printf 'local-slurm: %s\n' "$*"; }
die() { printf 'local-slurm: %s\n' "$*" >&2; exit 1; }

# ---- processes: a pid file holds "pid starttime", so a reused pid is never signalled
start_time() { [ ! -r "/proc/$1/stat" ] || sed 's/^.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }
alive() { # name
    local pid t
    [ -s "$RUN/$1" ] || return 1
    read -r pid t <"$RUN/$1"
    [ -n "$t" ] && [ "$(start_time "$pid")" = "$t" ] && [ "$(sed 's/^.*) //' "/proc/$pid/stat" | cut -c1)" != Z ]
}
launch() { # name command...
    local name=$1 pid
    shift
    if alive "$name"; then return 0; fi
    setsid "$@" </dev/null >>"$LOG/$name.out" 2>&1 &
    pid=$!
    disown "$pid"
    sleep 0.1
    printf '%s %s\n' "$pid" "$(start_time "$pid")" >"$RUN/$name"
}
stop() { # name
    local pid t i
    if alive "$1"; then
        read -r pid t <"$RUN/$1"
        kill -TERM "$pid" 2>/dev/null || true
        for ((i = 0; i < 150; i++)); do alive "$1" || break; sleep 0.1; done
        if alive "$1"; then say "$1 ($pid) ignored TERM, sending KILL"; kill -KILL "$pid" || true; sleep 0.2; fi
    fi
    rm -f "$RUN/$1"
}
await() { # seconds what command...
    local end=$((SECONDS + $1)) what=$2 f
    shift 2
    while [ "$SECONDS" -lt "$end" ]; do "$@" >/dev/null 2>&1 && return 0; sleep 0.1; done
    say "$what did not come up; last log lines:" >&2
    for f in "$LOG"/*; do echo "==> $f"; tail -n 5 "$f"; done >&2
    return 1
}
names() { # in start order
    echo munged
    echo slurmctld
    local i
    for ((i = 1; i <= NODES; i++)); do echo "slurmd-n$i"; done
}
need() { local c; for c in "$@"; do command -v "$c" >/dev/null || die "missing command: $c"; done; }

write_config() {
    local i g gres
    umask 022
    mkdir -p "$ETC" "$LOG" "$RUN" "$DIR/munge" "$DIR/ctld" "$DIR/spool"
    chmod 755 "$DIR" "$ETC" "$DIR/munge"
    cat >"$ETC/slurm.conf" <<CONF
ClusterName=local
SlurmctldHost=$HOST(127.0.0.1)
SlurmctldPort=$CTLD_PORT
SlurmUser=$ME
SlurmdUser=$ME
AuthType=auth/munge
AuthInfo=socket=$DIR/munge/munge.socket
CredType=cred/munge
StateSaveLocation=$DIR/ctld
SlurmdSpoolDir=$DIR/spool/%n
SlurmctldPidFile=$DIR/ctld/slurmctld.pid
SlurmdPidFile=$DIR/spool/slurmd-%n.pid
SlurmctldLogFile=$LOG/slurmctld.log
SlurmdLogFile=$LOG/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2,default_queue_depth=1000
PropagateResourceLimits=NONE
ReturnToService=2
SlurmctldTimeout=300
SlurmdTimeout=300
InactiveLimit=0
KillWait=5
MinJobAge=86400
MaxJobCount=100000
MaxArraySize=10001
DefMemPerCPU=500
GresTypes=gpu
AccountingStorageType=accounting_storage/none
CONF
    : >"$ETC/gres.conf"
    echo "AutoDetect=off" >>"$ETC/gres.conf"
    for ((i = 1; i <= NODES; i++)); do
        mkdir -p "$DIR/spool/n$i"
        gres=""
        if [ "$i" = "$NODES" ] && [ "$GPUS" -gt 0 ]; then
            gres=" Gres=gpu:fake:$GPUS"
            # a gres named gpu needs a File that is a character device (Count alone reports 0)
            mkdir -p "$DIR/dev"
            for ((g = 0; g < GPUS; g++)); do ln -sfn /dev/null "$DIR/dev/gpu$g"; done
            echo "NodeName=n$i Name=gpu Type=fake File=$DIR/dev/gpu[0-$((GPUS - 1))]" >>"$ETC/gres.conf"
        fi
        echo "NodeName=n$i NodeHostname=$HOST NodeAddr=127.0.0.1 Port=$((NODE_PORT + i)) CPUs=$NODE_CPUS RealMemory=$NODE_MEM_MB State=UNKNOWN$gres" >>"$ETC/slurm.conf"
    done
    cat >>"$ETC/slurm.conf" <<CONF
PartitionName=cpu Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=60 State=UP
PartitionName=gpu Nodes=n$NODES MaxTime=INFINITE DefaultTime=60 State=UP
CONF
}

write_wrappers() {
    # Snakemake's slurm-jobstep plugin drops every SLURM_* variable but a few before its
    # inner srun, SLURM_CONF too; commands found on PATH that set it again survive that.
    local c real
    mkdir -p "$DIR/bin"
    for c in sbatch srun squeue sacct scancel scontrol sinfo sacctmgr; do
        real=$(PATH=/usr/bin:/bin:/usr/local/bin command -v "$c") || continue
        printf '#!/bin/sh\nSLURM_CONF=%s exec %s "$@"\n' "$SLURM_CONF" "$real" >"$DIR/bin/$c"
        chmod 755 "$DIR/bin/$c"
    done
}

up() {
    local i
    need munged slurmctld slurmd sbatch
    write_config || return 1
    write_wrappers || return 1
    if [ ! -s "$DIR/munge/munge.key" ]; then
        (umask 077; head -c 128 /dev/urandom >"$DIR/munge/munge.key")
    fi
    launch munged munged --foreground --force --key-file="$DIR/munge/munge.key" --socket="$DIR/munge/munge.socket" \
        --pid-file="$DIR/munge/munged.pid" --log-file="$LOG/munged.log" --seed-file="$DIR/munge/munge.seed" --num-threads=4
    await 10 munged munge -n -S "$DIR/munge/munge.socket" || return 1
    launch slurmctld slurmctld -D -f "$SLURM_CONF"
    await 30 slurmctld scontrol ping || return 1
    for ((i = 1; i <= NODES; i++)); do launch "slurmd-n$i" slurmd -D -N "n$i" -f "$SLURM_CONF"; done
    await 60 "nodes" nodes_ready || return 1
    say "up; for a client shell: eval \"\$($0 env)\""
}
nodes_ready() {
    local n
    scontrol ping | grep -q 'is UP' || return 1
    n=$(sinfo -h -N -p cpu -o '%T' | grep -Ec '^(idle|mixed|allocated)$') || true
    [ "$n" = "$NODES" ]
}
down() {
    local i n list
    if alive slurmctld; then
        scancel --quiet --user="$ME" 2>/dev/null || true
        for ((i = 0; i < 100; i++)); do
            [ -z "$(squeue -h -t R,CG -o %i 2>/dev/null)" ] && break
            sleep 0.1
        done
    fi
    list=""
    for n in $(names) $(cd "$RUN" 2>/dev/null && ls || true); do case " $list " in *" $n "*) ;; *) list="$n $list" ;; esac; done
    for n in $list; do stop "$n"; done
    say down
}
status() {
    local n rc=0
    for n in $(names); do
        if alive "$n"; then say "$n running (pid $(cut -d' ' -f1 "$RUN/$n"))"; else say "$n not running"; rc=1; fi
    done
    if [ $rc = 0 ]; then sinfo -N -o '%N %P %T %c %m %G'; nodes_ready || rc=1; fi
    return $rc
}

# a second call sees the size the cluster was made with
if [ -s "$DIR/settings" ] && [ "${1:-}" != up ]; then . "$DIR/settings"; fi
case "${1:-}" in
    up)
        mkdir -p "$DIR"
        printf 'NODES=%s BASE_PORT=%s\n' "$NODES" "$BASE_PORT" >"$DIR/settings"
        up || { say "up failed, stopping what was started" >&2; down; exit 1; }
        ;;
    down) down ;;
    status) status ;;
    env) echo "export SLURM_CONF=$SLURM_CONF PATH=$DIR/bin:\$PATH" ;;
    run) shift; PATH=$DIR/bin:$PATH exec "$@" ;;
    clean)
        for n in $(names); do if alive "$n"; then die "$n still runs; say down first"; fi; done
        rm -rf -- "$DIR" ;;
    *) sed -n '2,16s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
