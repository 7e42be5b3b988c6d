// The rank of this process among those that work together, and how to reach the others.
#pragma once

#include <optional>

#include "workloads/communication/socket.h"

namespace doetune::workloads {

/// The maximum number of ranks.
inline constexpr int kMaxRanks = 4096;

struct RankContext {
  int rank = 0;                   // 0 .. ranks - 1
  int ranks = 1;                  // number of processes
  int local_rank = 0;             // among the ranks on this machine; selects its GPU
  Address rendezvous = {};        // where rank 0 listens
  int listener = -1;              // rank 0: the socket, if one already listens there
  bool several_machines = false;  // whether the launcher says so
};

/// The rank that a launcher assigned; empty where the process was started alone. Variables, in this
/// order:
///   DOETUNE_RANK, DOETUNE_RANKS, DOETUNE_RENDEZVOUS=host:port, DOETUNE_LOCAL_RANK (else the rank),
///   OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK (mpirun of Open MPI),
///   SLURM_PROCID, SLURM_STEP_NUM_TASKS, SLURM_LOCALID (srun).
/// Under mpirun and srun DOETUNE_RENDEZVOUS is optional: the default is the first host of
/// SLURM_STEP_NODELIST, or this machine where all ranks are on it, at a port derived from the job.
/// Ranks are on several machines where OMPI_COMM_WORLD_LOCAL_SIZE is less than the ranks, or
/// SLURM_STEP_NUM_NODES more than 1. Throws std::invalid_argument, naming the variable, for an
/// invalid value.
std::optional<RankContext> rank_from_environment();

}  // namespace doetune::workloads
