#pragma once
// Declares the tables that fitted.cpp lists; each trace has a file of its own.

#include "models/workloads/fitted.hpp"

namespace contend::workload_tables {

extern const FittedWorkload kAcmeKalos, kAcmeSeren, kHelios, kHeliosVenus, kItp, kOpenb, kPhilly;

}  // namespace contend::workload_tables
