#pragma once
// The tables that fitted.cpp lists; a file a trace.

#include "models/workloads/fitted.hpp"

namespace contend::workload_tables {

extern const FittedWorkload kAcmeKalos, kAcmeSeren, kHelios, kHeliosVenus, kItp, kOpenb, kPhilly;

}  // namespace contend::workload_tables
