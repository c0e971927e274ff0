! Tally over MPI for Fortran: include/tally/tally_mpi.h, which says what functions do, and their errors. `comm` is a
! communicator as module mpi has it, or comm%mpi_val of module mpi_f08.
module tally_mpi
    use, intrinsic :: iso_c_binding
    use tally
    implicit none
    private
    public :: tally_mpi_allreduce, tally_mpi_reduce, tally_mpi_allreduce_segments, tally_mpi_reduce_segments
    public :: tally_mpi_allreduce_elements, tally_mpi_reduce_elements
    public :: tally_mpi_allreduce_pair, tally_mpi_reduce_pair
    public :: tally_mpi_allreduce_segments_pair, tally_mpi_reduce_segments_pair
    public :: tally_mpi_allreduce_elements_pair, tally_mpi_reduce_elements_pair
    public :: tally_mpi_message

    interface
        integer(c_int) function c_reduce(context, op, left, right, segments, out, root, comm) &
            bind(c, name="tally_mpi_fortran_reduce")
            import
            type(c_ptr), value :: context
            integer(c_int), value :: op, root, comm
            type(tally_array), intent(in) :: left
            type(tally_array), intent(in), optional :: right
            type(tally_segments), intent(in), optional :: segments
            type(tally_output), intent(in) :: out
        end function
        integer(c_int) function c_elements(context, op, left, right, out, root, comm) &
            bind(c, name="tally_mpi_fortran_elements")
            import
            type(c_ptr), value :: context
            integer(c_int), value :: op, root, comm
            type(tally_array), intent(in) :: left
            type(tally_array), intent(in), optional :: right
            type(tally_output), intent(in) :: out
        end function
        type(c_ptr) function c_message() bind(c, name="tally_mpi_message")
            import
        end function
    end interface

    integer(c_int), parameter :: every_rank = -1, no_rank = -2

contains

    integer(c_int) function tally_mpi_allreduce(context, op, in, out, comm) result(status)
        type(c_ptr), intent(in) :: context
        integer, intent(in) :: op, comm
        type(tally_array), intent(in) :: in
        type(tally_output), intent(in) :: out
        status = c_reduce(context, op, in, out=out, root=every_rank, comm=comm)
    end function
    integer(c_int) function tally_mpi_reduce(context, op, in, out, root, comm) result(status)
        type(c_ptr), intent(in) :: context
        integer, intent(in) :: op, root, comm
        type(tally_array), intent(in) :: in
        type(tally_output), intent(in) :: out
        status = c_reduce(context, op, in, out=out, root=merge(root, no_rank, root >= 0), comm=comm)
    end function
    integer(c_int) function tally_mpi_allreduce_pair(context, op, left, right, out, comm) result(status)
        type(c_ptr), intent(in) :: context
        integer, intent(in) :: op, comm
        type(tally_array), intent(in) :: left, right
        type(tally_output), intent(in) :: out
        status = c_reduce(context, op, left, right, out=out, root=every_rank, comm=comm)
    end function
    integer(c_int) function tally_mpi_allreduce_segments(context, op, in, segments, out, comm) result(status)
        type(c_ptr), intent(in) :: context
        integer, intent(in) :: op, comm
        type(tally_array), intent(in) :: in
        type(tally_segments), intent(in) :: segments
        type(tally_output), intent(in) :: out
        status = c_reduce(context, op, in, segments=segments, out=out, root=every_rank, comm=comm)
    end function
    integer(c_int) function tally_mpi_reduce_segments(context, op, in, segments, out, root, comm) result(status)
        type(c_ptr), intent(in) :: context
        integer, intent(in) :: op, root, comm
        type(tally_array), intent(in) :: in
        type(tally_segments), intent(in) :: segments
        type(tally_output), intent(in) :: out
        status = c_reduce(context, op, in, segments=segments, out=out, root=merge(root, no_rank, root >= 0), comm=comm)
    end function
    integer(c_int) function tally_mpi_allreduce_elements(context, op, in, out, comm) result(status)
        type(c_ptr), intent(in) :: context
        integer, intent(in) :: op, comm
        type(tally_array), intent(in) :: in
        type(tally_output), intent(in) :: out
        status = c_elements(context, op, in, out=out, root=every_rank, comm=comm)
    end function
    integer(c_int) function tally_mpi_reduce_elements(context, op, in, out, root, comm) result(status)
        type(c_ptr), intent(in) :: context
        integer, intent(in) :: op, root, comm
        type(tally_array), intent(in) :: in
        type(tally_output), intent(in) :: out
        status = c_elements(context, op, in, out=out, root=merge(root, no_rank, root >= 0), comm=comm)
    end function
    integer(c_int) function tally_mpi_reduce_pair(context, op, left, right, out, root, comm) result(status)
        type(c_ptr), intent(in) :: context
        integer, intent(in) :: op, root, comm
        type(tally_array), intent(in) :: left, right
        type(tally_output), intent(in) :: out
        status = c_reduce(context, op, left, right, out=out, root=merge(root, no_rank, root >= 0), comm=comm)
    end function
    integer(c_int) function tally_mpi_allreduce_segments_pair(context, op, left, right, segments, out, comm) &
        result(status)
        type(c_ptr), intent(in) :: context
        integer, intent(in) :: op, comm
        type(tally_array), intent(in) :: left, right
        type(tally_segments), intent(in) :: segments
        type(tally_output), intent(in) :: out
        status = c_reduce(context, op, left, right, segments, out, every_rank, comm)
    end function
    integer(c_int) function tally_mpi_reduce_segments_pair(context, op, left, right, segments, out, root, comm) &
        result(status)
        type(c_ptr), intent(in) :: context
        integer, intent(in) :: op, root, comm
        type(tally_array), intent(in) :: left, right
        type(tally_segments), intent(in) :: segments
        type(tally_output), intent(in) :: out
        status = c_reduce(context, op, left, right, segments, out, merge(root, no_rank, root >= 0), comm)
    end function
    integer(c_int) function tally_mpi_allreduce_elements_pair(context, op, left, right, out, comm) result(status)
        type(c_ptr), intent(in) :: context
        integer, intent(in) :: op, comm
        type(tally_array), intent(in) :: left, right
        type(tally_output), intent(in) :: out
        status = c_elements(context, op, left, right, out, every_rank, comm)
    end function
    integer(c_int) function tally_mpi_reduce_elements_pair(context, op, left, right, out, root, comm) result(status)
        type(c_ptr), intent(in) :: context
        integer, intent(in) :: op, root, comm
        type(tally_array), intent(in) :: left, right
        type(tally_output), intent(in) :: out
        status = c_elements(context, op, left, right, out, merge(root, no_rank, root >= 0), comm)
    end function

    ! The sentence for the last status other than tally_ok that a function of this module gave.
    function tally_mpi_message() result(text)
        character(:), allocatable :: text
        text = tally_text_of(c_message())
    end function
end module
