#include "substrate_of.inl"
namespace treeform::binary {
template class SubstrateOf<std::uint64_t, std::int64_t>;
}
