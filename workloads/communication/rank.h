// Which of the processes that work together this one is: its rank, and how to reach the others.
#pragma once

#include <optional>

#include "workloads/communication/socket.h"

namespace doetune::workloads {

/// The most processes that work together.
inline constexpr int kMaxRanks = 4096;

struct RankContext {
  int rank = 0;                   // 0 ... ranks - 1
  int ranks = 1;                  // processes that work together
  int local_rank = 0;             // among those of this machine: which of its GPUs
  Address rendezvous = {};        // where rank 0 listens
  int listener = -1;              // rank 0: the open socket that listens there already
  bool several_machines = false;  // where the launcher says so
};

/// The rank that a launcher gave this process; empty where it was started alone. Variables, in
/// this order:
///   DOETUNE_RANK, DOETUNE_RANKS, DOETUNE_RENDEZVOUS=host:port, DOETUNE_LOCAL_RANK (else the rank),
///   OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK (mpirun of Open MPI),
///   SLURM_PROCID, SLURM_STEP_NUM_TASKS, SLURM_LOCALID (srun).
/// Under mpirun and srun DOETUNE_RENDEZVOUS may be left out: ranks meet at the first host of
/// SLURM_STEP_NODELIST, or on this machine where all of them are here, at a port that follows from
/// the job. They take part from several machines where OMPI_COMM_WORLD_LOCAL_SIZE is less than the
/// ranks, or SLURM_STEP_NUM_NODES more than 1. Throws std::invalid_argument, with the variable's
/// name, for one that is wrong.
std::optional<RankContext> rank_from_environment();

}  // namespace doetune::workloads
